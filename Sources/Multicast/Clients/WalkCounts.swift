/// The number of walks over a generation, and of the boxes vacated in it.
///
/// The list's lock protects everything except what ``counters`` points to.
@safe
struct WalkCounts: ~Copyable {
  /// What walks count without the lock. Its address identifies the generation.
  struct Counters: ~Copyable {
    let endedWalks = Atomic<UInt>(firstWalk)
    let vacated = Atomic<Int>(0)
  }

  /// The first number of a walk. It overflows soon, so tests would find code that relies on the order of
  /// these numbers. They are compared for equality only.
  private static var firstWalk: UInt { .max - 1 }

  let counters: UnsafeMutablePointer<Counters>
  private var begunWalks = firstWalk

  init() {
    unsafe counters = .allocate(capacity: 1)
    unsafe counters.initialize(to: Counters())
  }

  deinit {
    unsafe counters.deinitialize(count: 1)
    unsafe counters.deallocate()
  }

  mutating func begin() { begunWalks &+= 1 }

  /// Whether a walk is active.
  ///
  /// Both sides write one value and then read the other's, which acquire and release do not order. With
  /// sequential consistency, either this sees that the last walk ended, or the end of that walk sees what to
  /// reclaim. It includes acquire and release: what a walk has read and counted happens before the memory is
  /// moved, written or freed.
  var areActive: Bool {
    unsafe counters.pointee.endedWalks.load(ordering: .sequentiallyConsistent) != begunWalks
  }

  /// The number of vacated boxes. Walks increase it at any time.
  ///
  /// Relaxed: during a walk it is only a hint. It is reset where no walk is active, and ``areActive`` has
  /// acquired the counts by then.
  var vacated: Int {
    get { unsafe counters.pointee.vacated.load(ordering: .relaxed) }
    nonmutating set { unsafe counters.pointee.vacated.store(newValue, ordering: .relaxed) }
  }
}
