import Foundation
import MulticastCarrier
import NIOConcurrencyHelpers
import NIOCore

/// What every carrier has to do, as a test of an engine: for whoever writes a third one.
///
/// ```swift
/// @Test func conforms() async throws {
///   let broken = try await CarrierConformance { MyCarrier(address) }.check()
///   #expect(broken.isEmpty)
/// }
/// ```
///
/// The engine may lose, repeat and reorder nothing meanwhile. What never happens is waited for, for twenty
/// minutes, and then thrown as an error that names it.
public struct CarrierConformance: Sendable {
  let make: @Sendable () throws -> any Carrier

  /// - Parameter make: Makes a carrier of the engine that runs.
  public init(_ make: @escaping @Sendable () throws -> any Carrier) { self.make = make }

  /// A carrier, and what it has told.
  final class Post: Sendable {
    struct Log {
      var payloads: [ByteBuffer] = []
      /// Payloads that find out whether a subject is reached, however often they are sent.
      var probes: Set<ByteBuffer> = []
      var connections = 0
      var reasons: [String] = []
      var depth = 0
      var overlaps = false
    }
    let carrier: any Carrier
    let log = NIOLockedValueBox(Log())

    init(_ carrier: any Carrier) { self.carrier = carrier }

    func open() async throws {
      carrier.open { [log] event in
        log.withLockedValue { log in
          log.overlaps = log.overlaps || log.depth > 0
          log.depth += 1
        }
        log.withLockedValue { log in
          log.depth -= 1
          switch event {
          case .payload(let payload):
            // Byte by byte: the largest payload is no text, and would take seconds as one.
            if payload.readableBytesView.starts(with: Post.probe.utf8) {
              log.probes.insert(payload)
            } else {
              log.payloads.append(payload)
            }
          case .connected: log.connections += 1
          case .disconnected(let reason), .problem(let reason): log.reasons.append(reason)
          }
        }
      }
      try await connects()
    }

    func connects(_ times: Int = 1) async throws {
      try await eventually("the carrier connects") {
        self.log.withLockedValue { $0.connections >= times }
      }
    }

    var payloads: [ByteBuffer] { log.withLockedValue { $0.payloads } }

    static let probe = "probe "
    static func newProbe() -> ByteBuffer {
      ByteBuffer(string: probe + "\(UInt64.random(in: 0 ... .max))")
    }
    func hears(_ probe: ByteBuffer) -> Bool { log.withLockedValue { $0.probes.contains(probe) } }

    /// Publishes a probe to the subject until it has come.
    func reaches(_ other: Post, _ subject: String) async throws {
      let probe = Post.newProbe()
      try await eventually("a payload arrives") {
        try? carrier.publish(probe, to: subject)
        try await Task.sleep(for: .milliseconds(20))
        return other.hears(probe)
      }
    }
  }

  /// Checks the carrier, and what its engine stores if it is a `ReplayingCarrier`.
  ///
  /// - Returns: A sentence for each thing that it does not do.
  public func check() async throws -> [String] {
    var broken: [String] = []
    func expect(_ holds: Bool, _ sentence: String) { if !holds { broken.append(sentence) } }
    let (one, two, three) = (Post(try make()), Post(try make()), Post(try make()))
    let subject = "conformance.\(UInt32.random(in: 0 ... .max))"

    expect(one.refuses(ByteBuffer(), subject), "Publishing before a connection does not throw.")
    // A subscription from before the connection, one from after it, and one that nobody publishes to.
    two.carrier.subscribe(to: subject + ".a")
    for post in [one, two, three] { try await post.open() }
    two.carrier.subscribe(to: subject + ".b")
    try await one.reaches(two, subject + ".a")
    try await one.reaches(two, subject + ".b")

    // Any bytes, none, and as many as it takes.
    let limit = one.carrier.payloadLimit
    let bytes = [
      ByteBuffer(bytes: (0...255).map { UInt8($0) }), ByteBuffer(),
      ByteBuffer(string: "\r\n$5\r\n"),
      ByteBuffer(repeating: 0xA7, count: limit),
    ]
    var start = two.payloads.count
    for payload in bytes { try await one.send(payload, subject + ".a") }
    try await two.receives(start + bytes.count)
    expect(Array(two.payloads[start...]) == bytes, "A payload arrives changed.")
    expect(
      one.refuses(ByteBuffer(repeating: 0, count: limit + 1), subject + ".a", tooLarge: true),
      "A payload above the limit does not throw tooLarge.")

    // The order of one publisher, over two subjects.
    start = two.payloads.count
    for number in 0..<2_000 {
      let payload = ByteBuffer(integer: UInt32(number))
      try await one.send(payload, subject + (number % 2 == 0 ? ".a" : ".b"))
    }
    try await two.receives(start + 2_000)
    let numbers = two.payloads[start...].compactMap { $0.getInteger(at: 0, as: UInt32.self) }
    for parity in 0..<2 {
      expect(
        numbers.filter { Int($0) % 2 == parity } == (0..<2_000).filter { Int($0) % 2 == parity },
        "The payloads of a subject arrive out of order.")
    }

    // Publishers on several threads.
    start = two.payloads.count
    await withTaskGroup { group in
      for thread in 0..<4 {
        group.addTask {
          for number in 0..<200 {
            let payload = ByteBuffer(string: "\(thread) \(number)")
            try? await one.send(payload, subject + ".a")
          }
        }
      }
    }
    try await two.receives(start + 800)
    expect(Set(two.payloads[start...]).count == 800, "Threads lose payloads.")

    // Other subjects, and none any more.
    start = two.payloads.count
    try one.carrier.publish(ByteBuffer(string: "elsewhere"), to: subject + ".c")
    two.carrier.unsubscribe(from: subject + ".b")
    try await eventually("a subject is left") {
      let probe = Post.newProbe()
      try one.carrier.publish(probe, to: subject + ".b")
      try await one.reaches(two, subject + ".a")
      return !two.hears(probe)
    }
    expect(
      !two.payloads.contains(ByteBuffer(string: "elsewhere")),
      "A payload of another subject arrives.")

    // What was published before the end arrives, and nothing after it.
    start = two.payloads.count
    for post in [one, three] { post.carrier.subscribe(to: subject + ".d") }
    for post in [one, three] { try await two.reaches(post, subject + ".d") }
    // So many that the engine is still busy with them when all are written.
    for number in 0..<5_000 {
      try await one.send(ByteBuffer(string: "end \(number)"), subject + ".a")
    }
    await one.carrier.close()
    try await two.receives(start + 5_000)
    await one.carrier.close()
    let last = Post.newProbe()
    try two.carrier.publish(last, to: subject + ".d")
    try await eventually("the others receive") { three.hears(last) }
    expect(!one.hears(last), "A closed carrier receives.")
    await three.carrier.close()
    await two.carrier.close()
    for post in [one, two] where post.log.withLockedValue({ $0.overlaps }) {
      broken.append("The carrier tells two things at once.")
    }
    return try await broken + checkStore()
  }

  /// Checks that the carrier comes back with all of its subscriptions.
  ///
  /// - Parameter restart: Ends the engine, and starts it again at its address.
  public func check(restart: () async throws -> Void) async throws -> [String] {
    let (one, two) = (Post(try make()), Post(try make()))
    let subject = "conformance.\(UInt32.random(in: 0 ... .max))"
    two.carrier.subscribe(to: subject)
    try await one.open()
    try await two.open()
    try await one.reaches(two, subject)
    try await restart()
    try await one.connects(2)
    try await two.connects(2)
    try await one.reaches(two, subject)
    await one.carrier.close()
    await two.carrier.close()
    return one.log.withLockedValue { $0.reasons.isEmpty }
      ? ["The carrier does not tell that it has lost the connection."] : []
  }
}

extension CarrierConformance.Post {
  fileprivate func refuses(
    _ payload: ByteBuffer, _ subject: String, tooLarge: Bool = false
  ) -> Bool {
    do throws(CarrierError) { try carrier.publish(payload, to: subject) } catch {
      if case .tooLarge = error { return true }
      return !tooLarge
    }
    return false
  }

  /// Publishes when there is room.
  func send(_ payload: ByteBuffer, _ subject: String) async throws {
    try await eventually("the carrier takes a payload") {
      do throws(CarrierError) { try carrier.publish(payload, to: subject) } catch {
        guard case .full = error else { throw error }
        return false
      }
      return true
    }
  }

  func receives(_ count: Int) async throws {
    try await eventually("\(count) payloads arrive") {
      self.payloads.count >= count
    }
  }
}
