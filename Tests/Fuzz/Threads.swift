import CoreModel
import Foundation
import Multicast

/// Calls `body` with random numbers on a thread of its own, which is in the group until it ends.
func onThread(
  in group: DispatchGroup, seed: UInt64,
  _ body: @escaping @Sendable (inout SeededGenerator) -> Void
) {
  group.enter()
  Thread {
    var generator = SeededGenerator(seed: seed)
    body(&generator)
    group.leave()
  }.start()
}

func currentThread() -> UInt {
  #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}

/// Is counted as long as it lives.
final class Counted: Sendable {
  final class Counter: Sendable {
    let alive = Atomic<Int>(0)
    let all = Atomic<Int>(0)

    /// Waits until nothing is alive. Returns how much is, if that takes too long.
    func waitForEnd(seconds: Int, meanwhile body: () -> Void = {}) -> Int {
      let end = DispatchTime.now() + .seconds(seconds)
      while true {
        body()
        let alive = alive.load(ordering: .acquiring)
        if alive == 0 || DispatchTime.now() > end { return alive }
        usleep(30)
      }
    }
  }

  private let counter: Counter

  init(by counter: Counter) {
    self.counter = counter
    counter.alive.wrappingAdd(1, ordering: .relaxed)
    counter.all.wrappingAdd(1, ordering: .relaxed)
  }

  deinit { counter.alive.wrappingAdd(-1, ordering: .releasing) }
}
