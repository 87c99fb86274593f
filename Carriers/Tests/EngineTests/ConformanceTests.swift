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

/// A carrier of the engine whose engine stores what is published.
func storingCarrier(_ engine: Engine) throws -> any Carrier {
  switch engine.kind {
  case .nats: JetStreamCarrier(try .init(urls: engine.url, name: "test"))
  case .redis: RedisStreamCarrier(try .init(url: engine.url, name: "test"))
  }
}

extension Engine {
  /// Starts an engine that stores, with an empty store.
  ///
  /// - Parameter old: A nats-server that has ended, whose store is used.
  init(storing kind: Kind, port: Int? = nil, in old: Engine? = nil) async throws {
    let store = old?.program.path("store") ?? "FOLDER/store"
    try await self.init(
      kind, port: port, configuration: kind == .nats ? "jetstream { store_dir: \"\(store)\" }" : "")
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

  @Test(arguments: Engine.Kind.allCases) func storesConform(_ kind: Engine.Kind) async throws {
    let engine = try await Engine(storing: kind)
    let broken = try await CarrierConformance { try storingCarrier(engine) }.check()
    #expect(broken.isEmpty)
  }

  @Test(arguments: Engine.Kind.allCases) func aStoreThatIsGoneIsNotBelieved(
    _ kind: Engine.Kind
  ) async throws {
    var engine = try await Engine(storing: kind)
    let first = engine
    let conformance = CarrierConformance { try storingCarrier(first) }
    // With the engine, which comes back without what it had, and while it runs.
    let restarted = try await conformance.checkStore(emptied: {
      try await engine.program.kill9()
      engine = try await Engine(storing: kind, port: engine.port)
    })
    #expect(restarted.isEmpty)
    guard kind == .redis else { return }
    let emptied = try await conformance.checkStore(emptied: {
      let program = try Program("redis-cli", ["-p", "\(engine.port)", "flushall"])
      #expect(try await program.status() == 0)
    })
    #expect(emptied.isEmpty)
  }

  @Test(arguments: Engine.Kind.allCases) func sendsAllThatWaitsAtItsEnd(
    _ kind: Engine.Kind
  ) async throws {
    let engine = try await Engine(kind)
    let heard = NIOLockedValueBox<[UInt32]>([])
    let isReady = NIOLockedValueBox(false)
    let receiver = try carrier(engine)
    receiver.subscribe(to: "subject")
    receiver.open { event in
      switch event {
      case .connected: isReady.withLockedValue { $0 = true }
      case .payload(let payload):
        guard let number = payload.getInteger(at: 0, as: UInt32.self) else { return }
        heard.withLockedValue { $0.append(number) }
      default: break
      }
    }
    try await eventually("it is connected") { isReady.withLockedValue { $0 } }
    for round in 1...3 {
      let sender = try carrier(engine)
      sender.open { _ in }
      // So much that the engine is still busy with it when all is written.
      for number in 0..<10_000 as Range<UInt32> {
        try await eventually("it is taken") {
          (try? sender.publish(ByteBuffer(integer: number), to: "subject")) != nil
        }
      }
      await sender.close()
      try await eventually("the end arrives") {
        heard.withLockedValue { $0.count } >= round * 10_000
      }
    }
    #expect(heard.withLockedValue { $0 } == (1...3).flatMap { _ in 0..<10_000 })
    await receiver.close()
    withExtendedLifetime(engine) {}
  }

  @Test func memoryConforms() async throws {
    let hub = InMemoryCarrier.Hub()
    let broken = try await CarrierConformance { InMemoryCarrier(hub: hub) }.check()
    #expect(broken.isEmpty)
    let store = InMemoryStoreCarrier.Store()
    let conformance = CarrierConformance { InMemoryStoreCarrier(store) }
    let stored = try await conformance.check()
    #expect(stored.isEmpty)
    let emptied = try await conformance.checkStore(emptied: { store.empty() })
    #expect(emptied.isEmpty)
  }
}
