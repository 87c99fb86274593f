import MulticastCarrier
import MulticastCarrierTesting
import MulticastNATS
import MulticastRedis
import NIOCore
import Testing

/// Stores into which others write, too, and that refuse.
@Suite(.timeLimit(.minutes(60))) struct StoreTests {
  private func redis(_ engine: Engine, _ words: String...) async throws -> String {
    let program = try Program("redis-cli", ["-p", "\(engine.port)"] + words)
    #expect(try await program.status() == 0)
    return program.text("out")
  }

  /// How many connections the engine has, beside the one that asks.
  private func connections(_ engine: Engine) async throws -> Int {
    try await redis(engine, "client", "list", "type", "normal").split(separator: "\n").count - 1
  }

  private func carrier(_ engine: Engine, name: String = "test") throws -> RedisStreamCarrier {
    RedisStreamCarrier(try .init(url: engine.url, name: name))
  }

  @Test func whatOthersAppendToAStreamEndsNothing() async throws {
    let engine = try await Engine(.redis)
    let one = try carrier(engine)
    let start = try await one.stored("subject", after: nil)
    for words in [["payload", "one"], ["a", "1", "b", "2"], ["payload", "two"], ["other", "3"]] {
      let program = try Program(
        "redis-cli", ["-p", "\(engine.port)", "xadd", "stream.subject", "*"] + words)
      #expect(try await program.status() == 0)
    }
    var page = start
    var payloads: [ByteBuffer] = []
    repeat {
      page = try await one.stored("subject", after: page.end)
      payloads += page.payloads
    } while page.hasMore
    #expect(payloads.count == 4)
    #expect(
      payloads.filter { $0.readableBytes > 0 }
        == [ByteBuffer(string: "one"), ByteBuffer(string: "two")])
    let end = try await one.stored("subject", after: nil).end
    #expect(page.end == end)
    await one.close()
  }

  @Test func aRefusedGreetingLeavesNoConnection() async throws {
    let engine = try await Engine(.redis)
    let one = RedisStreamCarrier(
      try .init(url: "redis://nobody:wrong@127.0.0.1:\(engine.port)", name: "test"))
    for _ in 1...5 {
      await #expect(throws: (any Error).self) { try await one.stored("subject", after: nil) }
    }
    await one.close()
    try await eventually("no connection is left") { try await connections(engine) == 0 }
  }

  @Test func readingsAtTheSameTimeLeaveNoConnection() async throws {
    let engine = try await Engine(.redis)
    let one = try carrier(engine)
    try await withThrowingTaskGroup(of: StoredPayloads.self) { group in
      for number in 1...10 {
        group.addTask { try await one.stored("subject.\(number)", after: nil) }
      }
      try await group.waitForAll()
    }
    await one.close()
    try await eventually("no connection is left") { try await connections(engine) == 0 }
  }

  @Test(arguments: Engine.Kind.allCases)
  func aClosedCarrierLeavesNoConnection(_ kind: Engine.Kind) async throws {
    let engine = try await Engine(storing: kind)
    guard let one = try storingCarrier(engine) as? any ReplayingCarrier else { return }
    await one.close()
    await one.close()
    await #expect(throws: CarrierError.closed) { try await one.stored("subject", after: nil) }
    withExtendedLifetime(engine) {}
  }

  @Test func onlyWhatIsAskedForIsFetched() async throws {
    let engine = try await Engine(.redis)
    let one = try carrier(engine)
    _ = try await one.stored("subject", after: nil)
    let text = String(repeating: "a", count: 10_000)
    for _ in 1...20 { _ = try await redis(engine, "xadd", "stream.subject", "*", "payload", text) }
    _ = try await redis(engine, "config", "resetstat")
    _ = try await one.stored("subject", after: nil)
    let line = try await redis(engine, "info", "stats").split(separator: "\r\n")
      .first { $0.hasPrefix("total_net_output_bytes:") }
    let bytes = try #require(line?.split(separator: ":").last.flatMap { Int($0) })
    #expect(bytes < 20_000)
    await one.close()
  }

  @Test(arguments: ["one\ttwo", "one\r\ntwo", "Büro", ""])
  func anyNameIsAccepted(_ name: String) async throws {
    let engine = try await Engine(.redis)
    let one = try carrier(engine, name: name)
    _ = try await one.stored("subject", after: nil)
    await one.close()
  }

  @Test(arguments: Engine.Kind.allCases)
  func readsManyOfTheLargest(_ kind: Engine.Kind) async throws {
    let engine = try await Engine(storing: kind)
    guard let one = try storingCarrier(engine) as? any ReplayingCarrier else { return }
    one.open { _ in }
    try await eventually("it is connected") { (try? one.publish(ByteBuffer(), to: "a")) != nil }
    var page = try await one.stored("subject", after: nil)
    var end = page.end
    for number in 0..<100 as Range<UInt32> {
      var payload = ByteBuffer(integer: number)
      payload.writeRepeatingByte(7, count: one.payloadLimit - 4)
      // What was handed over is lost with the connection, if the machine is too slow for it: so it is stored again.
      try await eventually("it is stored") {
        guard (try? one.store(payload, to: "subject")) != nil else { return false }
        for _ in 1...100 {
          if let now = try? await one.stored("subject", after: nil).end, now != end {
            end = now
            return true
          }
          try await Task.sleep(for: .milliseconds(10))
        }
        return false
      }
    }
    var read: [UInt32] = []
    try await eventually("all is read") {
      guard let next = try? await one.stored("subject", after: page.end) else { return false }
      page = next
      for case let number? in page.payloads.map({ $0.getInteger(at: 0, as: UInt32.self) })
      where number != read.last {
        read.append(number)
      }
      return read.last == 99
    }
    #expect(read == Array(0..<100))
    await one.close()
    withExtendedLifetime(engine) {}
  }
}
