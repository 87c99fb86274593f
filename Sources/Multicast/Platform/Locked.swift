import Synchronization

/// A mutex that the thread sanitizer understands.
///
/// `Mutex` waits inside the standard library, which is not instrumented. Under contention, the sanitizer sees
/// neither release nor acquisition, and reports false races in every program that uses this package. An
/// instrumented load and store show it the order. Each is a plain instruction on most machines.
package struct Locked<State: ~Copyable>: ~Copyable {
  private let mutex: Mutex<State>
  private let handOver = Atomic<Bool>(false)

  package init(_ state: consuming sending State) {
    mutex = Mutex(state)
  }

  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending State) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try mutex.withLock { state throws(Failure) -> sending Result in
      _ = handOver.load(ordering: .acquiring)
      defer { handOver.store(true, ordering: .releasing) }
      return try body(&state)
    }
  }
}
