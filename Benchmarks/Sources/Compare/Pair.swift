import Foundation
import Synchronization

/// Two threads that begin at the same moment.
enum Pair {
  /// Runs both on threads of their own, and returns the nanoseconds that the slower one took.
  ///
  /// Each measures itself: a third thread may be late to see them begin.
  static func run(_ first: @escaping @Sendable () -> Void, _ second: @escaping @Sendable () -> Void)
    -> Double
  {
    let start = Start()
    let ended = DispatchGroup()
    for work in [first, second] {
      ended.enter()
      Thread.detachNewThread {
        start.waitForBoth()
        start.note(Stopwatch.measure(work))
        ended.leave()
      }
    }
    ended.wait()
    return start.slowest
  }

  private final class Start: Sendable {
    private let arrived = Atomic<Int>(0)
    private let times = Mutex<[Double]>([])

    var slowest: Double { times.withLock { $0.max() ?? 0 } }

    /// Lets nobody pass until both are there.
    func waitForBoth() {
      arrived.add(1, ordering: .acquiringAndReleasing)
      // Somebody else may have the processor that the other thread needs.
      while arrived.load(ordering: .acquiring) < 2 { sched_yield() }
    }

    func note(_ time: Double) {
      times.withLock { $0.append(time) }
    }
  }
}
