import Multicast
import Synchronization
import Testing

@testable import MulticastCarrier

private struct Note: Codable, Sendable, Equatable {
  var number: Int
  var text = ""
}

extension Topic where Message == Note {
  fileprivate static var note: Self { Topic("note") }
}

/// One process of several: a center with its carriage.
private final class Node: Sendable {
  let center = MulticastCenter()
  let carrier: InMemoryCarrier
  let carriage: Carriage
  private let task: Mutex<Task<Void, Never>?>

  init(
    _ hub: InMemoryCarrier.Hub, name: String, limit: Int = 10_000, payloadLimit: Int = 1 << 20,
    echoes: Bool = false
  ) {
    carrier = InMemoryCarrier(hub: hub, payloadLimit: payloadLimit, echoes: echoes)
    carriage = Carriage(center: center, carrier: carrier, node: name, waiting: limit)
    carriage.carry(.note, as: "note", version: 2)
    task = Mutex(nil)
  }

  /// Returns when the node is connected.
  func start() async {
    var reports = center.messages(of: .carriage).makeAsyncIterator()
    task.withLock { $0 = Task { [carriage] in await carriage.run() } }
    while let report = await reports.next(), report != .connected {}
  }

  func stop() async {
    await carriage.close()
    await task.withLock { $0 }?.value
  }

  func post(_ number: Int) { center.post(.note, Note(number: number)) }
}

/// Runs a body with nodes that are connected, and ends them.
private func withNodes(_ nodes: Node..., body: () async throws -> Void) async throws {
  for node in nodes { await node.start() }
  // Each has heard of the others, so that no hello is under way.
  do { try await body() } catch {
    for node in nodes { await node.stop() }
    throw error
  }
  for node in nodes { await node.stop() }
}

private typealias Notes = AsyncStream<Note>.Iterator
private typealias Reports = AsyncStream<CarriageReport>.Iterator

private func numbers(_ notes: inout Notes, _ count: Int) async -> [Int] {
  var numbers: [Int] = []
  while numbers.count < count, let note = await notes.next() { numbers.append(note.number) }
  return numbers
}

private func first<Value>(
  _ reports: inout Reports, _ value: (CarriageReport) -> Value?
) async -> Value? {
  while let report = await reports.next() {
    if let value = value(report) { return value }
  }
  return nil
}

private func skipped(_ report: CarriageReport) -> String? {
  if case .skipped(let reason) = report { reason } else { nil }
}

@Suite(.timeLimit(.minutes(5))) struct CarriageTests {
  private let hub = InMemoryCarrier.Hub()

  @Test(arguments: [false, true]) func carriesBothWaysWithoutAnEcho(echoes: Bool) async throws {
    let one = Node(hub, name: "one", echoes: echoes)
    let two = Node(hub, name: "two", echoes: echoes)
    try await withNodes(one, two) {
      var atOne = one.center.messages(of: .note).makeAsyncIterator()
      var atTwo = two.center.messages(of: .note).makeAsyncIterator()
      one.post(1)
      #expect(await numbers(&atTwo, 1) == [1])
      two.post(2)
      // An echo of 1 would come before 2, and one of 2 before 3.
      #expect(await numbers(&atOne, 2) == [1, 2])
      one.post(3)
      #expect(await numbers(&atTwo, 2) == [2, 3])
    }
  }

  @Test func publishesWhatAHandlerAnswersToWhatCameIn() async throws {
    let one = Node(hub, name: "one")
    let two = Node(hub, name: "two")
    try await withNodes(one, two) {
      let owner = Owner()
      two.center.observe(.note, owner: owner) { [center = two.center] _, note in
        if note.number < 10 { center.post(.note, Note(number: note.number + 10)) }
      }
      var atOne = one.center.messages(of: .note).makeAsyncIterator()
      one.post(1)
      one.post(2)
      #expect(Set(await numbers(&atOne, 4)) == [1, 2, 11, 12])
      extendLifetime(owner)
    }
  }

  @Test func keepsTheOrderOfEachPoster() async throws {
    let nodes = (0..<3).map { Node(hub, name: "\($0)") }
    let reader = Node(hub, name: "reader")
    try await withNodes(nodes[0], nodes[1], nodes[2], reader) {
      var notes = reader.center.messages(of: .note).makeAsyncIterator()
      await withTaskGroup { group in
        for (index, node) in nodes.enumerated() {
          group.addTask { for number in 0..<300 { node.post(index * 1_000 + number) } }
        }
      }
      let numbers = await numbers(&notes, 900)
      for index in 0..<3 {
        #expect(numbers.filter { $0 / 1_000 == index } == (0..<300).map { index * 1_000 + $0 })
      }
    }
  }

  @Test func tellsWhatWasMissed() async throws {
    let one = Node(hub, name: "one")
    let two = Node(hub, name: "two")
    try await withNodes(one, two) {
      var notes = two.center.messages(of: .note).makeAsyncIterator()
      var reports = two.center.messages(of: .carriage).makeAsyncIterator()
      one.post(1)
      one.post(2)
      #expect(await numbers(&notes, 2) == [1, 2])
      two.carrier.disconnect()
      for number in 3...5 { one.post(number) }
      // Nobody posts after the loss: the hello and its answer tell of it.
      two.carrier.reconnect()
      let gap = await first(&reports) { if case .gapPossible = $0 { $0 } else { nil } }
      #expect(
        gap == .gapPossible(since: CarriageReport.Place(node: "one", sequence: 2), missing: 3))
      one.post(6)
      #expect(await numbers(&notes, 1) == [6])
    }
  }

  @Test func skipsWhatItCannotRead() async throws {
    let one = Node(hub, name: "one")
    let stranger = InMemoryCarrier(hub: hub)
    await stranger.open { _ in }
    try await withNodes(one) {
      var notes = one.center.messages(of: .note).makeAsyncIterator()
      var reports = one.center.messages(of: .carriage).makeAsyncIterator()
      func send(_ sequence: UInt64, type: String = "note", version: Int = 2, _ body: String) throws
      {
        let envelope = Envelope(
          kind: .message, node: "stranger", sequence: sequence, type: type, version: version)
        try stranger.publish(envelope.payload(Array(body.utf8)))
      }
      func reason() async throws -> String { try #require(await first(&reports, skipped)) }
      let good = #"{"number":7,"text":""}"#

      try stranger.publish([])
      #expect(try await reason() == "It has no envelope.")
      try stranger.publish([0xFF, 0x0A, 0xC3])
      #expect(try await reason() == "It has no envelope.")
      try stranger.publish(Array("{\"format\":2}\nwhatever".utf8))
      #expect(try await reason() == "Its envelope has format 2, and this program knows 1.")
      try stranger.publish(Array("{\"format\":1,\"sequence\":-1}\n".utf8))
      #expect(try await reason() == "Its envelope cannot be decoded.")
      try send(1, version: 3, good)
      #expect(try await reason() == "note has version 3, and this program knows 2.")
      try send(2, type: "letter", good)
      #expect(try await reason() == "This program does not know letter.")
      try send(3, #"{"number":"#)
      #expect(try await reason().hasPrefix("note of stranger cannot be decoded"))
      try send(3, good)
      #expect(try await reason() == "Message 3 of stranger came before.")
      try send(4, version: 1, good)
      #expect(await numbers(&notes, 1) == [7])
    }
    await stranger.close()
  }

  @Test func refusesWhatIsTooLargeWhereItIsPosted() async throws {
    let one = Node(hub, name: "one", payloadLimit: 1_000)
    let two = Node(hub, name: "two", payloadLimit: 1_000)
    try await withNodes(one, two) {
      var atOne = one.center.messages(of: .note).makeAsyncIterator()
      var atTwo = two.center.messages(of: .note).makeAsyncIterator()
      var reports = one.center.messages(of: .carriage).makeAsyncIterator()
      let large = Note(number: 1, text: String(repeating: "x", count: 1_000))
      let error = await #expect(throws: CarrierError.self) {
        try await one.carriage.postAndWait(.note, large, as: "note")
      }
      #expect(error?.description.contains("at most 1000") == true)
      // Posted like any message, it reaches this process alone, and that is told.
      one.center.post(.note, large)
      let kept = await first(&reports) { if case .kept(let type, _) = $0 { type } else { nil } }
      #expect(kept == "note")
      one.post(2)
      #expect(await numbers(&atOne, 2) == [1, 2])
      #expect(await numbers(&atTwo, 1) == [2])
    }
  }

  @Test func boundsWhatWaits() async throws {
    let one = Node(hub, name: "one")
    let two = Node(hub, name: "two", limit: 10)
    try await withNodes(one, two) {
      var notes = two.center.messages(of: .note).makeAsyncIterator()
      var reports = two.center.messages(of: .carriage).makeAsyncIterator()
      let owner = Owner()
      let (gate, open) = AsyncStream<Void>.makeStream()
      two.center.observe(.note, owner: owner) { (_, note) async in
        if note.number == 0 { for await _ in gate {} }
      }
      one.post(0)
      #expect(await numbers(&notes, 1) == [0])
      // The handler of 0 has not returned: ten payloads wait, one of which may be a greeting. The others are dropped.
      for number in 1...50 { one.post(number) }
      await one.carrier.flush()
      open.finish()
      let kept = await numbers(&notes, 9)
      one.post(51)
      let next = await numbers(&notes, 1)
      let lost: Int
      if next == [10] {
        lost = 40
        #expect(await numbers(&notes, 1) == [51])
      } else {
        lost = 41
        #expect(next == [51])
      }
      #expect(kept == Array(1...9))
      var dropped = 0
      var missing: UInt64 = 0
      while dropped < lost || missing < lost {
        switch await reports.next() {
        case .dropped(let count, .incoming): dropped += count
        case .gapPossible(_, let count): missing += count
        default: break
        }
      }
      #expect(dropped == lost && missing == lost)
      extendLifetime(owner)
    }
  }

  @Test func forgetsProcessesThatWereInvented() {
    var places = Places()
    for number in 0..<Places.limit * 3 {
      _ = places.take(Envelope(kind: .message, node: "\(number)", sequence: 1))
    }
    #expect(places.count <= Places.limit)
  }
}

private final class Owner: Sendable {}
