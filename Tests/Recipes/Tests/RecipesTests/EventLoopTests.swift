import Multicast
import NIOCore
import NIOPosix
import Testing

@testable import Recipes

/// Runs what the article about event loops says of swift-nio.
@Suite struct EventLoopTests {
  private actor Connection {
    private(set) var damage = 0
    private let executor: any SerialExecutor

    init(executor: any SerialExecutor, center: MulticastCenter) {
      self.executor = executor
      center.observe(Game.damage, owner: self) { (me: isolated Connection, damage) in
        me.damage += damage
      }
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  }

  private let center = MulticastCenter()
  private let loop = MultiThreadedEventLoopGroup.singleton.any()

  /// Posts 10 on the loop's thread, outside every task, and returns what has arrived when `post` returns.
  private func damage(of connection: Connection) async throws -> Int {
    try await loop.submit { [center] in
      center.post(Game.damage, 10)
      return connection.assumeIsolated { $0.damage }
    }.get()
  }

  @Test func aPostOfAChannelHandlerReachesTheLoopBeforeItReturns() async throws {
    let connection = Connection(executor: EventLoopExecutor(loop), center: center)
    #expect(try await damage(of: connection) == 10)
  }

  @Test func aPostOfAChannelHandlerReachesTheExecutorOfNIOLater() async throws {
    let connection = Connection(executor: loop.executor, center: center)
    #expect(try await damage(of: connection) == 0)
    #expect(await center.settled())
    #expect(await connection.damage == 10)
  }

  @Test func aPostOfAnotherThreadReachesTheLoopLater() async {
    let connection = Connection(executor: EventLoopExecutor(loop), center: center)
    #expect(await center.post(Game.damage, 10).delivered() == 1)
    #expect(await connection.damage == 10)
  }
}
