import Foundation
import Multicast
import TestSupport
import Testing

@globalActor actor Audio {
  static let shared = Audio()
  static let loop = GameLoop()
  nonisolated var unownedExecutor: UnownedSerialExecutor { Self.loop.asUnownedSerialExecutor() }
}

@Audio private final class Speaker {
  private(set) var sounds = 0

  init(center: MulticastCenter) { center.observe(Game.damage, owner: self) { $0.play($1) } }
  private func play(_ damage: Int) { sounds += 1 }
}

/// An actor whose executor is a loop is a home: the program of the article about event loops.
@Suite struct EventLoopTests {
  private let center = MulticastCenter()
  private let loop = GameLoop()
  private let journal = Journal()

  /// Runs one frame, on a thread that runs no task.
  private func runFrame() { onNewThread { loop.runFrame() } }

  /// Runs frames on another thread until `body` has returned.
  private func whileFramesRun<Result>(
    of loop: GameLoop, _ body: () async -> Result
  ) async -> Result {
    let (isOver, hasEnded) = (Collected<Bool>(), Collected<Bool>())
    Thread {
      while isOver.all.isEmpty {
        loop.runFrame()
        // As if a display set the pace. Without a pause, this thread would take a processor from all other tests.
        Thread.sleep(forTimeInterval: 0.001)
      }
      hasEnded.add(true)
    }.start()
    let result = await body()
    isOver.add(true)
    await hasEnded.wait(for: 1)
    return result
  }

  @Test func aPostOfAnotherThreadReachesTheGameInALaterFrame() async {
    let game = Game(loop: loop, center: center)
    await whileFramesRun(of: loop) {
      #expect(await center.post(Game.damage, 10).delivered() == 1)
      #expect(await game.health == 90)
    }
  }

  @Test func aPostInAFrameReachesTheGameBeforeItReturns() {
    let game = Game(loop: loop, center: center)
    loop.schedule { [center, journal] in
      center.post(Game.damage, 10)
      game.assumeIsolated { journal.write("\($0.health)") }
    }
    runFrame()
    #expect(journal.read() == "90")
  }

  @Test func anEffectFollowsItsCauseInTheGame() async {
    let game = kept(Game(loop: loop, center: center))
    center.observe(Game.damage, owner: game) { [center, journal] (_: isolated Game, damage) in
      journal.write("\(damage)")
      if damage < 3 { center.post(Game.damage, damage + 1) }
      journal.write("end")
    }
    center.post(Game.damage, 1)
    #expect(journal.read() == "")
    #expect(await whileFramesRun(of: loop) { await center.settled() })
    #expect(journal.read() == "1 end 2 end 3 end")
  }

  @Test func aPostOfOneActorOfALoopReachesTheOthersBeforeItReturns() {
    let games = [Game(loop: loop, center: center), Game(loop: loop, center: center)]
    loop.schedule { [center, journal] in
      games[0].assumeIsolated { _ in
        center.post(Game.damage, 10)
        for game in games { game.assumeIsolated { journal.write("\($0.health)") } }
      }
    }
    runFrame()
    #expect(journal.read() == "90 90")
  }

  @Test func aClassOfAGlobalActorIsCalledInItsLoop() async {
    await whileFramesRun(of: Audio.loop) {
      let speaker = kept(await Speaker(center: center))
      #expect(await center.post(Game.damage, 10).delivered() == 1)
      #expect(await speaker.sounds == 1)
    }
    let isCalled = Collected<Bool>()
    center.observe(Game.damage, owner: Audio.shared) { @Audio _, _ in isCalled.add(true) }
    Audio.loop.schedule { [center, journal] in
      center.post(Game.damage, 10)
      journal.write("\(isCalled.all)")
    }
    onNewThread { Audio.loop.runFrame() }
    #expect(journal.read() == "[true]")
  }
}
