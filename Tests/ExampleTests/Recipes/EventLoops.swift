import Foundation
import Multicast

/// A loop that runs the jobs of actors.
nonisolated protocol LoopExecutor: SerialExecutor {
  // Adds work to the loop, on any thread.
  func schedule(_ work: @escaping @Sendable () -> Void)
  var isCurrent: Bool { get }
}

nonisolated extension LoopExecutor {
  func enqueue(_ job: UnownedJob) {
    schedule { [self] in
      unsafe job.runSynchronously(
        on: asUnownedSerialExecutor())
    }
  }
  func isIsolatingCurrentContext() -> Bool? { isCurrent }
  func checkIsolated() { precondition(isCurrent) }
}

/// `@unchecked`, because the lock protects the variables.
final class GameLoop: LoopExecutor, @unchecked Sendable {
  private let lock = NSLock()
  private var work: [@Sendable () -> Void] = []
  private var thread: Thread?
  var isCurrent: Bool {
    lock.withLock { thread == .current }
  }
  func schedule(_ work: @escaping @Sendable () -> Void) {
    lock.withLock { self.work.append(work) }
  }

  /// The game's thread calls this again and again.
  func runFrame() {
    let work = lock.withLock {
      thread = .current
      defer { self.work = [] }
      return self.work
    }
    for work in work { work() }
  }
}

actor Game {
  static let damage = Topic<Int>("damage")
  private(set) var health = 100
  private let loop: GameLoop

  init(loop: GameLoop, center: MulticastCenter) {
    self.loop = loop
    center.observe(Self.damage, owner: self) {
      (me: isolated Game, damage) in me.health -= damage
    }
  }
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe loop.asUnownedSerialExecutor()
  }
}
