import Synchronization

/// A mutex whose hand-over from thread to thread the thread sanitizer can see.
///
/// `Mutex` waits inside of the standard library, whose code is not instrumented. Where two threads
/// contend for it, the sanitizer sees neither the release nor the acquisition, and reports a race
/// where there is none, in the tests of every program that uses this package. Hence a load and a
/// store of its own, in instrumented code; each is a plain instruction on most machines.
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
