import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import MulticastCarrier
@testable import MulticastCarrierTesting

/// The protocol between the processes, in a time of its own.
@Suite struct ExchangeTests {
  private let sent = NIOLockedValueBox<[ByteBuffer]>([])

  private func exchange(
    _ name: String = "one", limits: Carriage.Limits = .init(), payloadLimit: Int = .max
  ) -> Exchange {
    var exchange = Exchange(
      identity: Identity(name: name, start: 1), prefix: "test", limits: limits
    ) { [sent] payload, _ in
      guard payload.readableBytes <= payloadLimit else {
        return .tooLarge(bytes: payload.readableBytes, limit: payloadLimit)
      }
      sent.withLockedValue { $0.append(payload) }
      return nil
    }
    exchange.carry("note", .init())
    return exchange
  }

  private func note(_ bytes: Int = 10) -> Envelope {
    Envelope(type: "note", body: ByteBuffer(repeating: 0, count: bytes))
  }

  /// The numbers of the messages in each payload that was sent since the last call.
  private func takeSent() throws -> [[UInt64]] {
    let payloads = sent.withLockedValue { sent in
      defer { sent = [] }
      return sent
    }
    return try payloads.map { payload in
      try Packet(payload).contents.compactMap {
        if case .message(_, let sequence, _) = $0 { sequence } else { nil }
      }
    }
    .filter { !$0.isEmpty }
  }

  /// Whoever comes back a moment later than the sender still gets what has waited for long.
  @Test func keepsWhatHasWaitedAsLongAsWhatHasNot() throws {
    var one = exchange()
    var now = NIODeadline.uptimeNanoseconds(1)
    #expect(one.post(note(), payloadLimit: 1_000, at: now) == nil)
    now = now + .minutes(10)
    one.connect(at: now)
    for (seconds, numbers) in [(29, [[1]]), (40, [])] as [(Int64, [[UInt64]])] {
      one.tick(at: now + .seconds(seconds))
      _ = try takeSent()
      let question = Packet(
        sender: Identity(name: "two", start: 2), .ask(type: "note", 1...1, nonce: 7))
      one.receive(question.payload(), at: now + .seconds(seconds))
      #expect(try takeSent() == numbers)
    }
  }

  // MARK: Causes

  /// As it is for a process that is new, for some seconds after another one has left.
  @Test func aQuestionThatFollowsAStrangerIsStillHeardBeforeItsAnswer() throws {
    let start = NIODeadline.uptimeNanoseconds(1)
    // In every order of the names.
    for (author, other) in [("a", "b"), ("b", "a")] {
      var one = exchange()
      one.carry("note", .init(isCausal: true))
      one.connect(at: start)
      func receive(_ name: String, _ content: Packet.Content, after time: TimeAmount) {
        one.receive(
          Packet(sender: Identity(name: name, start: 2), content).payload(), at: start + time)
      }
      for name in [author, other] { receive(name, .beat(Places()), after: .zero) }
      let question = Identity(name: author, start: 2)
      let stranger = Identity(name: "stranger", start: 2)
      receive(
        other, .message(note(), sequence: 1, after: [question: 1]), after: .milliseconds(10))
      receive(
        author, .message(note(), sequence: 1, after: [stranger: 9]), after: .milliseconds(60))
      for time in stride(from: Int64(50), through: 150, by: 10) {
        one.tick(at: start + .milliseconds(time))
      }
      #expect(one.takeDeliveries().isEmpty)
      one.tick(at: start + .milliseconds(200))
      #expect(one.takeDeliveries().map(\.sender.name) == [author, other])
    }
  }

  /// What nobody honest sends.
  @Test func aCircleOfCausesEnds() {
    let start = NIODeadline.uptimeNanoseconds(1)
    var one = exchange()
    one.carry("note", .init(isCausal: true))
    one.connect(at: start)
    let (a, b) = (Identity(name: "a", start: 2), Identity(name: "b", start: 2))
    for (sender, cause) in [(a, b), (b, a)] {
      one.receive(Packet(sender: sender, .beat(Places())).payload(), at: start)
      one.receive(
        Packet(sender: sender, .message(note(), sequence: 1, after: [cause: 1])).payload(),
        at: start)
    }
    one.tick(at: start + .seconds(2))
    #expect(one.takeDeliveries().count == 2)
  }

  // MARK: Several in one payload

  @Test func whatWaitsSharesAPayload() throws {
    let now = NIODeadline.uptimeNanoseconds(1)
    var one = exchange()
    one.connect(at: now)
    for _ in 1...3 { #expect(one.post(note(), payloadLimit: .max, at: now) == nil) }
    #expect(one.send("note", at: now) == false)
    let payloads = sent.withLockedValue { $0 }
    #expect(try takeSent() == [[1, 2, 3]])

    // It is received as if each had come alone.
    var two = exchange("two")
    for payload in payloads { two.receive(payload, at: now) }
    two.tick(at: now + .minutes(1))
    #expect(two.takeDeliveries().map(\.sequence) == [1, 2, 3])

    // So is what is sent again.
    let question = Packet(
      sender: Identity(name: "two", start: 1), .ask(type: "note", 2...3, nonce: 7))
    _ = try takeSent()
    one.receive(question.payload(), at: now)
    #expect(try takeSent() == [[2, 3]])
  }

  @Test func whoIsAboutToSendWaitsForWhatComesMeanwhile() throws {
    let now = NIODeadline.uptimeNanoseconds(1)
    var one = exchange()
    one.connect(at: now)
    func post(_ one: inout Exchange, _ size: Int) {
      #expect(one.post(note(size), payloadLimit: .max, at: now) == nil)
    }
    post(&one, 10)
    #expect(one.isToSend("note") == true)
    post(&one, 10)
    #expect(one.isToSend("note") == false)
    #expect(one.send("note", at: now) == true)
    post(&one, 10)
    #expect(one.send("note", at: now) == true)
    #expect(try takeSent() == [])
    #expect(one.send("note", at: now) == false)
    #expect(try takeSent() == [[1, 2, 3]])

    // It waits no longer than until a payload is full.
    post(&one, 10)
    #expect(one.isToSend("note") == true)
    post(&one, 40_000)
    #expect(one.send("note", at: now) == false)
    #expect(try takeSent() == [[4], [5]])
  }

  @Test func aPayloadOfSeveralStaysSmall() throws {
    let now = NIODeadline.uptimeNanoseconds(1)
    var one = exchange()
    one.connect(at: now)
    for size in [12_000, 12_000, 12_000, 80_000, 10] {
      #expect(one.post(note(size), payloadLimit: .max, at: now) == nil)
    }
    #expect(one.send("note", at: now) == false)
    #expect(try takeSent() == [[1, 2], [3], [4], [5]])
  }

  @Test func messagesLeaveAloneWhereTheirPayloadIsRefused() throws {
    let now = NIODeadline.uptimeNanoseconds(1)
    var one = exchange(payloadLimit: 1_000)
    one.connect(at: now)
    for size in [500, 500, 2_000, 500] {
      // The limit has changed since.
      #expect(one.post(note(size), payloadLimit: .max, at: now) == nil)
    }
    #expect(one.send("note", at: now) == false)
    #expect(try takeSent() == [[1], [2], [4]])
    #expect(one.counts.kept == 1)
    #expect(one.waitingToLeave.messages == 0)
  }

  @Test func whatWaitsSharesAPayloadAlsoWhereNoMoreIsKept() throws {
    let now = NIODeadline.uptimeNanoseconds(1)
    var limits = Carriage.Limits()
    limits.keptBytes = 10_000
    var one = exchange(limits: limits)
    one.connect(at: now)
    for _ in 1...100 {
      #expect(one.post(note(500), payloadLimit: .max, at: now) == nil)
      #expect(one.post(note(500), payloadLimit: .max, at: now) == nil)
      #expect(one.send("note", at: now) == false)
    }
    let payloads = try takeSent()
    #expect(payloads.map(\.count) == Array(repeating: 2, count: 100))
    #expect(one.counts.dropped == 0)

    // What waits for a moment only leaves before it is given up.
    for _ in 1...100 { #expect(one.post(note(500), payloadLimit: .max, at: now) == nil) }
    #expect(one.send("note", at: now) == false)
    #expect(try takeSent().joined().map { $0 } == Array(201...300))
    #expect(one.counts.dropped == 0)
  }

  @Test func aContentThatIsOfNoUseSpoilsNoOther() {
    let now = NIODeadline.uptimeNanoseconds(1)
    var two = exchange("two")
    let other = Envelope(type: "other", body: ByteBuffer())
    var packet = Packet(sender: Identity(name: "one", start: 1), .beat(Places()))
    packet.contents += [
      .message(note(), sequence: 1, after: [:]), .message(other, sequence: 1, after: [:]),
      .message(note(), sequence: 2, after: [:]),
    ]
    two.receive(packet.payload(), at: now)
    #expect(two.takeDeliveries().map(\.sequence) == [1, 2])
    #expect(two.counts.skipped == 1)
  }

  // MARK: Strangers

  /// Whoever may publish to the engine may send any numbers.
  @Test(arguments: 0..<8) func livesThroughAnyNumbers(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let numbers: [UInt64] = [0, 1, 2, 3, 1 << 62 - 1, 1 << 62, .max - 1, .max]
    var one = exchange()
    one.carry("other", .init(isCausal: true))
    var now = NIODeadline.uptimeNanoseconds(1)
    one.connect(at: now)
    let kinds: [(Places) -> Packet.Content] = [
      Packet.Content.hello, Packet.Content.beat, Packet.Content.bye,
    ]
    func number() -> UInt64 { numbers[random.below(numbers.count)] }
    for _ in 0..<2_000 {
      let type = random.chance(2) ? "note" : "other"
      let sender = Identity(name: "stranger", start: 1 + number() % 3)
      // Who is asked can answer anything.
      let nonces = sent.withLockedValue { $0 }.compactMap { try? Packet($0) }.flatMap(\.contents)
        .compactMap { content in
          if case .ask(_, _, let nonce) = content { nonce } else { nil }
        }
      sent.withLockedValue { $0 = [] }
      var contents: [Packet.Content] = [
        .message(
          Envelope(type: type, body: ByteBuffer()), sequence: number(), after: [sender: number()]),
        kinds[random.below(3)](Places(last: [type: number()])),
        .ask(type: type, 1...max(1, number()), nonce: 7),
      ]
      contents += nonces.map {
        .answer(
          type: type, nonce: $0,
          .init(last: number(), through: number(), lostThrough: number()))
      }
      for content in contents where random.chance(2) {
        one.receive(Packet(sender: sender, content).payload(), at: now)
      }
      now = now + .milliseconds(Int64(random.below(2_000)))
      one.tick(at: now)
      // What is told is counted together.
      _ = (one.lags, one.takeDeliveries(), one.takeReports(at: now))
    }
  }

  /// What waits for a message that is missing is bounded, whatever it consists of.
  @Test func countsAllThatIsHeld() {
    let now = NIODeadline.uptimeNanoseconds(1)
    var limits = Carriage.Limits()
    limits.heldBytes = 10_000
    var two = exchange("two", limits: limits)
    let one = Identity(name: "one", start: 1)
    two.receive(Packet(sender: one, .beat(Places())).payload(), at: now)
    var large = note()
    large.metadata = ["key": String(repeating: "a", count: 1_000)]
    for number in 2...100 as ClosedRange<UInt64> {
      two.receive(
        Packet(sender: one, .message(large, sequence: number, after: [:])).payload(), at: now)
    }
    two.receive(Packet(sender: one, .message(large, sequence: 1, after: [:])).payload(), at: now)
    #expect(two.takeDeliveries().count < 11)
  }

  @Test func aPayloadOfSeveralTakesNoMoreMemoryThanItsBytes() throws {
    let now = NIODeadline.uptimeNanoseconds(1)
    var one = exchange()
    one.connect(at: now)
    for _ in 1...2 { #expect(one.post(note(), payloadLimit: .max, at: now) == nil) }
    #expect(one.send("note", at: now) == false)
    let payload = try #require(sent.withLockedValue { $0.last })
    #expect(payload.storageCapacity < 1_024)
  }

  // MARK: What an engine has stored

  /// What a reading brings: eight payloads at most.
  private func page(of store: [ByteBuffer], _ reading: Replays.Reading) -> StoredPayloads {
    let start = reading.position.map { Int($0.offset) ?? 0 } ?? store.count
    let end = min(store.count, start + 8)
    return StoredPayloads(
      Array(store[start..<end]), end: .init(epoch: "store", offset: "\(end)"),
      hasMore: end < store.count)
  }

  /// Reads all that is due.
  private func read(_ store: [ByteBuffer], _ exchange: inout Exchange, at now: NIODeadline) {
    while let reading = exchange.nextReading(at: now, where: { _ in true }) {
      exchange.take(page(of: store, reading), reading, at: now)
    }
  }

  /// A process that has read an empty store, may have met another one, and has lost the connection.
  private func away(
    _ limits: Carriage.Limits, knowing peer: Identity?, at now: NIODeadline
  ) -> Exchange {
    var exchange = Exchange(
      identity: Identity(name: "one", start: 1), prefix: "test", limits: limits, replays: true
    ) { _, _ in nil }
    exchange.carry("note", .init())
    exchange.connect(at: now)
    read([], &exchange, at: now)
    if let peer { exchange.receive(Packet(sender: peer, .beat(Places())).payload(), at: now) }
    exchange.disconnect()
    return exchange
  }

  /// A process was away. Another one that it may not have known has said more than may be held, and has ended; and
  /// what it said first, the store may have let go.
  @Test(arguments: [false, true]) func readsMoreThanMayBeHeld(isKnown: Bool) {
    var limits = Carriage.Limits()
    limits.heldBytes = 10_000
    var now = NIODeadline.uptimeNanoseconds(1)
    let two = Identity(name: "two", start: 1)
    var one = away(limits, knowing: isKnown ? two : nil, at: now)
    let store = (100...200 as ClosedRange<UInt64>).map {
      Packet(sender: two, .message(note(1_000), sequence: $0, after: [:])).payload()
    }
    one.connect(at: now)
    var heard: [UInt64] = []
    for _ in 1...6_000 {
      now = now + .milliseconds(50)
      one.tick(at: now)
      read(store, &one, at: now)
      heard += one.takeDeliveries().map(\.sequence)
    }
    #expect(heard == Array(100...200))
    #expect(one.counts.missing == (isKnown ? 99 : 0))
  }

  /// One reading brings no more than the handlers of its topic may have waiting.
  @Test func readsNoMoreAtOnceThanMayWait() {
    var limits = Carriage.Limits()
    limits.waitingMessages = 60
    var now = NIODeadline.uptimeNanoseconds(1)
    let two = Identity(name: "two", start: 1)
    var one = away(limits, knowing: two, at: now)
    let store = (0..<40 as Range<UInt64>).map { number in
      var packet = Packet(sender: two, .message(note(), sequence: number * 10 + 1, after: [:]))
      for next in 2...10 as ClosedRange<UInt64> {
        packet.contents.append(.message(note(), sequence: number * 10 + next, after: [:]))
      }
      return packet.payload()
    }
    one.connect(at: now)
    var heard: [UInt64] = []
    for _ in 1...1_000 {
      now = now + .milliseconds(50)
      one.tick(at: now)
      var waiting: [UInt64] = []
      while let reading = one.nextReading(at: now, where: { _ in waiting.count <= 30 }) {
        one.take(page(of: store, reading), reading, at: now)
        waiting += one.takeDeliveries().map(\.sequence)
      }
      #expect(waiting.count <= 60)
      heard += waiting
    }
    #expect(heard == Array(1...400))
  }
}
