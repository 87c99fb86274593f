import MulticastPlatform

/// The number of activities that threads have begun and not yet ended, and a mark that asks for a report when none is left.
///
/// If threads on several processors count in one word, each has to fetch it from the other's cache, which costs a short post a
/// third of its time. So the number is spread over several words, the stripes, each in a cache line of its own. Two threads
/// have the same one of the eight stripes in one of eight cases. Counting is one atomic addition. Reading the number is slow,
/// and seldom needed.
///
/// `@unchecked`, because the compiler does not know that only atomic functions access the stripes.
@safe
package struct StripedCounter: ~Copyable, @unchecked Sendable {
  /// The word in which an activity was counted. It is a view of the counter, and must not outlive it.
  @safe
  package struct Stripe {
    fileprivate let word: UnsafeMutablePointer<UInt64>
  }

  // A stripe's word: bit 0 is the mark, bits 1 to 31 count the activities that are under way, and bits 32 to 63 those that have
  // ever begun here. The last number may overflow, because `isZero` only compares two readings of it.
  private static var mark: UInt64 { 1 }
  private static var activity: UInt64 { 1 << 1 }
  private static var begin: UInt64 { 1 << 32 }

  private static var stripeBits: UInt64 { 3 }
  private static var stripeCount: Int { 1 << stripeBits }

  /// The size of a cache line, or of two, on all processors that Swift is used on.
  private static var stripeSize: Int { 128 }

  private let stripes: UnsafeMutableRawPointer

  package init() {
    unsafe stripes = .allocate(
      byteCount: Self.stripeCount * Self.stripeSize, alignment: Self.stripeSize)
    for index in 0..<Self.stripeCount { unsafe word(index).initialize(to: 0) }
  }

  deinit { unsafe stripes.deallocate() }

  private func word(_ index: Int) -> UnsafeMutablePointer<UInt64> {
    unsafe (stripes + index * Self.stripeSize).assumingMemoryBound(to: UInt64.self)
  }

  private func load(_ index: Int) -> UInt64 {
    unsafe multicast_load(word(index), AtomicOrdering.acquiring.rawValue)
  }
}

extension StripedCounter {
  /// Counts an activity as begun.
  @inline(__always)
  package func begin() -> Stripe {
    // The variables of different threads are often a multiple of a page apart. The highest bits of the product depend on all
    // bits of the address.
    let thread = unsafe UInt64(UInt(bitPattern: multicast_thread_slot()))
    let index = Int((thread &* Hashing.factor) >> (64 - Self.stripeBits))
    let word = unsafe word(index)
    unsafe multicast_add(word, Self.begin + Self.activity, AtomicOrdering.relaxed.rawValue)
    return unsafe Stripe(word: word)
  }

  /// Counts an activity as ended. Returns whether the mark is set and no other activity is counted in this stripe, so that
  /// ``isZero`` has to be asked.
  @inline(__always)
  package func end(_ stripe: Stripe) -> Bool {
    let old = unsafe multicast_add(
      stripe.word, 0 &- Self.activity, AtomicOrdering.acquiringAndReleasing.rawValue)
    return UInt32(truncatingIfNeeded: old) == UInt32(Self.activity | Self.mark)
  }

  /// Whether there was a moment during this call at which no activity was counted.
  ///
  /// Read this with one lock held that all callers share. If two activities end at the same time in different stripes, neither
  /// thread may see the other's end without it. With it, the second one to take the lock sees both.
  ///
  /// An activity may begin in a stripe that has been read, and one may end in a stripe before that is read. Then each stripe was
  /// at zero when it was read, but never all of them together. So all are read twice. If none has begun anything in between, all of
  /// them were at zero between the two passes.
  ///
  /// An activity that has begun because of another one is seen in time: a thread that reads that the other one has ended sees
  /// everything that happened before that end, including the beginning. That is why ``begin()`` needs no ordering of its own.
  package var isZero: Bool {
    // The numbers only grow between the passes (2³² activities do not begin meanwhile), so the sums are equal only if each
    // number is.
    var first: UInt64 = 0
    for index in 0..<Self.stripeCount {
      let word = load(index) & ~Self.mark
      if UInt32(truncatingIfNeeded: word) != 0 { return false }
      first &+= word
    }
    var second: UInt64 = 0
    for index in 0..<Self.stripeCount { second &+= load(index) & ~Self.mark }
    return first == second
  }

  /// Sets or removes the mark. Only one thread at a time may call this. After the mark is set, each activity that ends finds it, and
  /// ``isZero`` no longer counts one that ended earlier. So no end is missed.
  package func setMark(_ isMarked: Bool) {
    if (load(0) & Self.mark != 0) == isMarked { return }
    let change = isMarked ? Self.mark : 0 &- Self.mark
    for index in 0..<Self.stripeCount {
      unsafe multicast_add(word(index), change, AtomicOrdering.acquiringAndReleasing.rawValue)
    }
  }
}
