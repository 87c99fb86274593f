#if NATS
  import Foundation
  import Synchronization
  import Testing

  /// What a message costs, as ratios of one run: `CHAT_MEASURE=1 Examples/ChatServer/test --filter MeasureTests`.
  @Suite(.enabled(if: ProcessInfo.processInfo.environment["CHAT_MEASURE"] != nil))
  struct MeasureTests {
    /// A thousand readers of one server, and one more who speaks.
    private final class Crowd: Sendable {
      static let size = 1_000
      private let server: Server
      private let speaker: Browser
      private let heard = Mutex<(count: Int, all: CheckedContinuation<Void, Never>?)>((0, nil))

      init(_ server: Server) async throws {
        self.server = server
        speaker = try await Browser(server, "speaker")
      }

      /// Reads until it is cancelled.
      func read(_ number: Int) async throws {
        try await withWire(server.port) { [self] wire in
          var wire = wire
          let path = "/rooms/lobby/events?name=r\(number)&client=client-\(number)"
          try await wire.send("GET", path, [], [])
          while let event = try await wire.event() { if event.name == "said" { count() } }
        }
      }

      private func count() {
        let all = heard.withLock { heard in
          heard.count += 1
          return heard.count == Crowd.size ? heard.all.take() : nil
        }
        all?.resume()
      }

      func allAreHere() async throws {
        try await eventually("all are here") { speaker.here.contains("\"r\(Crowd.size - 1)\"") }
        try await eventually("nobody comes any more") {
          speaker.here.split(separator: ",").count > Crowd.size
        }
      }

      /// The time from the request to the last reader, and the part of it that was spent in deliveries.
      func time() async throws -> (total: Double, library: Double) {
        let before = try await library()
        let start = ContinuousClock.now
        await withCheckedContinuation { all in
          heard.withLock { $0 = (0, all) }
          Task { [speaker] in try await speaker.say("Hello") }
        }
        let total = (ContinuousClock.now - start) / .seconds(1)
        return (total, try await library() - before)
      }

      private func library() async throws -> Double {
        try await server.get("/metrics").split(separator: "\n")
          .filter { $0.hasPrefix("multicast_delivery_seconds_sum") && !$0.contains("NodeState") }
          .compactMap { Double($0.split(separator: " ").last ?? "") }.reduce(0, +)
      }
    }

    @Test func aThousandLocalReadersWithAndWithoutTheCarrier() async throws {
      let engine = try await Engine()
      let crowds = [
        try await Crowd(Server("without")),
        try await Crowd(Server("with", "--nats", engine.url)),
      ]
      try await withThrowingTaskGroup { group in
        for crowd in crowds {
          for number in 0..<Crowd.size { group.addTask { try await crowd.read(number) } }
        }
        for crowd in crowds { try await crowd.allAreHere() }
        var times: [[(total: Double, library: Double)]] = [[], []]
        for _ in 0..<15 {
          for index in 0..<2 { times[index].append(try await crowds[index].time()) }
        }
        group.cancelAll()
        let median = { (values: [Double]) in values.sorted()[values.count / 2] }
        let ratio = median(zip(times[1], times[0]).map { $0.total / $1.total })
        let shares = times.map { median($0.map { $0.library / $0.total }) }
        print(
          "with the carrier / without: \(ratio);",
          "the library's share: \(shares[0]) without, \(shares[1]) with the carrier")
      }
      withExtendedLifetime(engine) {}
    }
  }
#endif
