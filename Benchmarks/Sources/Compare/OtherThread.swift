import Foundation
import Synchronization

/// A thread beside the main thread.
enum OtherThread {
  /// Does work on another thread. Meanwhile the main thread, which has to call this, does what is left
  /// for the main actor.
  static func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) -> Result {
    let outcome = Outcome<Result>()
    Thread.detachNewThread {
      outcome.result = work()
      // Wakes the main thread up.
      DispatchQueue.main.async {}
    }
    while true {
      if let result = outcome.result { return result }
      _ = RunLoop.main.run(mode: .default, before: .distantFuture)
    }
  }

  private final class Outcome<Result: Sendable>: Sendable {
    private let value = Mutex<Result?>(nil)

    var result: Result? {
      get { value.withLock { $0 } }
      set { value.withLock { $0 = newValue } }
    }
  }
}
