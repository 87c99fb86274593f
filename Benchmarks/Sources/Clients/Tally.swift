import Synchronization

/// A client's work: it counts its calls, and adds up what it was told.
///
/// A load and a store, which are plain instructions on most machines, but which the compiler leaves
/// where they are: it can neither drop the work nor gather it behind a loop. Threads may race for
/// it without undefined behaviour; then counts are lost, so only those of one thread are checked.
struct Tally: ~Copyable {
  private let calls = Atomic<Int>(0)
  private let sum = Atomic<Int>(0)

  var count: Int { calls.load(ordering: .relaxed) }

  @inline(__always)
  borrowing func add(_ number: Int) {
    calls.store(calls.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    sum.store(sum.load(ordering: .relaxed) &+ number, ordering: .relaxed)
  }
}
