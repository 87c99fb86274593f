import MulticastCarrier
import MulticastCarrierTesting
import MulticastNATS
import MulticastRedis
import NIOConcurrencyHelpers
import NIOCore
import Testing

/// A carrier of the engine that a test has started.
func carrier(_ engine: Engine, user: String? = nil) throws -> any Carrier {
  let url = user.map { "\(engine.kind)://\($0)@127.0.0.1:\(engine.port)" } ?? engine.url
  return switch engine.kind {
  case .nats: NATSCarrier(try .init(urls: url, name: "test"))
  case .redis: RedisCarrier(try .init(url: url, name: "test"))
  }
}

@Suite(.timeLimit(.minutes(60))) struct ConformanceTests {
  @Test(arguments: Engine.Kind.allCases) func conforms(_ kind: Engine.Kind) async throws {
    let engine = try await Engine(kind)
    let broken = try await CarrierConformance { try carrier(engine) }.check()
    #expect(broken.isEmpty)
  }

  @Test(arguments: Engine.Kind.allCases) func comesBack(_ kind: Engine.Kind) async throws {
    var engine = try await Engine(kind)
    let first = engine
    let broken = try await CarrierConformance { try carrier(first) }.check {
      try await engine.program.kill9()
      engine = try await Engine(kind, port: engine.port)
    }
    #expect(broken.isEmpty)
  }

  @Test func streamsConformAndAreKept() async throws {
    let engine = try await Engine(.redis)
    let broken = try await CarrierConformance { try RedisStreamCarrier(.init(url: engine.url)) }
      .check()
    #expect(broken.isEmpty)
    let carrier = try RedisStreamCarrier(.init(url: engine.url))
    let isConnected = NIOLockedValueBox(false)
    carrier.open { if case .connected = $0 { isConnected.withLockedValue { $0 = true } } }
    try await eventually("it is connected") { isConnected.withLockedValue { $0 } }
    let payloads = (0..<2_500).map { ByteBuffer(integer: $0) }
    for payload in payloads { try carrier.store(payload, to: "kept") }
    try carrier.publish(ByteBuffer(string: "not kept"), to: "kept")
    try await eventually("all are stored") {
      // A question that is not answered in time is asked again.
      (try? await carrier.stored("kept", inTheLast: .hours(1))) == payloads
    }
    try await eventually("nothing else is stored") {
      (try? await carrier.stored("other", inTheLast: .hours(1))) == []
    }
    await carrier.close()
  }

  @Test func memoryConforms() async throws {
    let hub = InMemoryCarrier.Hub()
    let broken = try await CarrierConformance { InMemoryCarrier(hub: hub) }.check()
    #expect(broken.isEmpty)
  }
}
