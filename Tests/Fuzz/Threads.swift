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

extension DispatchGroup {
  /// Returns true at its end. The limit only ends what would hang for ever, to tell of it.
  func waitForEnd() -> Bool { wait(timeout: .now() + .seconds(600)) == .success }
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
    fileprivate let group = DispatchGroup()

    /// Returns when nothing is alive, and 0; or how much is, where the program would hang for ever.
    func waitForEnd() -> Int {
      group.waitForEnd() ? 0 : alive.load(ordering: .acquiring)
    }
  }

  private let counter: Counter

  init(by counter: Counter) {
    self.counter = counter
    counter.alive.wrappingAdd(1, ordering: .relaxed)
    counter.all.wrappingAdd(1, ordering: .relaxed)
    counter.group.enter()
  }

  deinit {
    counter.alive.wrappingAdd(-1, ordering: .releasing)
    counter.group.leave()
  }
}
