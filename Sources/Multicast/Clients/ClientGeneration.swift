import Synchronization

/// The boxes of a list in the order in which their clients were added, as they stand from one
/// compaction to the next.
///
/// Boxes are appended and vacated, never moved while somebody walks over them: a notify that began
/// when there were `count` of them walks over the first `count`, whatever is appended or vacated
/// meanwhile, without a lock and without a copy. Compaction is what moves boxes, so it is done in
/// place only while no walk is under way; otherwise ``copy(droppingInto:)`` makes a new generation,
/// and this one is retired until the last walk over it has ended.
///
/// Objects whose last reference may be here are never released here, because their `deinit` may use
/// the list, whose lock is held: they are handed out, in an array to be dropped without the lock.
///
/// All of it belongs to the lock of the ``ClientList``, except what ``counters`` points to.
@safe
struct ClientGeneration: ~Copyable {
  /// What walks count without the lock, in memory of its own.
  struct Counters: ~Copyable {
    /// How many walks have ended.
    let endedWalks = Atomic<Int>(0)

    /// How many boxes are vacated.
    let vacated = Atomic<Int>(0)
  }

  private let stride: Int
  private let hasCompanions: Bool
  let first: ClientSegment
  private var last: ClientSegment
  private var usedOfLast = 0
  private var index = IdentityIndex()

  /// The number of boxes, the vacated ones among them.
  private(set) var count = 0

  /// The number of boxes at which dead clients are looked for before another is appended.
  private(set) var limit = IdentityIndex.largestCountWithoutTable

  /// Whether boxes were vacated during a walk, and still hold their companions.
  private var companionsLinger = false

  /// Companions that were exchanged during a walk.
  private var exchangedCompanions: [AnyObject] = []

  private var begunWalks = 0

  let counters: UnsafeMutablePointer<Counters>

  init(stride: Int, hasCompanions: Bool) {
    self.stride = stride
    self.hasCompanions = hasCompanions
    first = .allocate(capacity: ClientSegment.smallestCapacity, stride: stride)
    last = first
    unsafe counters = .allocate(capacity: 1)
    unsafe counters.initialize(to: Counters())
  }

  deinit {
    var boxes = self.boxes
    while let box = boxes.next() { box.deinitialize() }
    first.deallocateNext()
    first.deallocate()
    index.free()
    unsafe counters.deinitialize(count: 1)
    unsafe counters.deallocate()
  }

  /// Whether a walk is under way.
  ///
  /// Sequentially consistent on both sides: either this sees that the last walk has ended, or the
  /// end of that walk sees what was left for it to do.
  var isWalked: Bool {
    unsafe counters.pointee.endedWalks.load(ordering: .sequentiallyConsistent) != begunWalks
  }

  /// How many of the boxes are vacated.
  private(set) var vacant: Int {
    get { unsafe counters.pointee.vacated.load(ordering: .relaxed) }
    nonmutating set { unsafe counters.pointee.vacated.store(newValue, ordering: .relaxed) }
  }

  /// Whether more boxes are vacated than not, so that compaction pays.
  var isSparse: Bool { vacant > count - vacant }

  /// Whether ``reclaim(droppingInto:)`` has something to do.
  var hasGarbage: Bool { isSparse || companionsLinger || !exchangedCompanions.isEmpty }

  /// Whether no client is registered, dead or alive.
  var isEmpty: Bool { count == vacant }

  var isFull: Bool { count == limit }

  mutating func beginWalk() {
    begunWalks += 1
  }
}

// MARK: - Membership

extension ClientGeneration {
  /// The box registered for this key, whose client may be dead.
  func find(_ key: borrowing ClientKey) -> WeakBox? {
    if index.exists { return index.find(key.identity, where: key.matches) }
    var boxes = self.boxes
    while let box = boxes.next() {
      if box.identity == key.identity, key.matches(box) { return box }
    }
    return nil
  }

  /// Appends a box for a client that has none here. Returns false if the client is in its `deinit`.
  mutating func append(
    _ client: AnyObject, identity: UInt, bits: UnsafeRawPointer, home: (any Actor)?
  ) -> Bool {
    let box = nextFreeBox()
    guard
      unsafe box.initialize(
        client: client, identity: identity, bits: bits, size: stride - WeakBox.headerSize,
        home: home)
    else { return false }
    if hasCompanions { box.retainCompanion() }
    usedOfLast += 1
    count += 1
    index.insert(box)
    return true
  }

  /// Ends a registration. Walks that are under way see it at once.
  mutating func vacate(_ box: WeakBox, droppingInto garbage: inout [AnyObject]) {
    guard unsafe box.vacate(countingIn: counters) else { return }
    guard hasCompanions else { return }
    if isWalked {
      companionsLinger = true
    } else if let companion = box.takeCompanion() {
      garbage.append(companion)
    }
  }

  /// Ends the registrations that match.
  mutating func vacateAll(
    droppingInto garbage: inout [AnyObject], where matches: (WeakBox) -> Bool
  ) {
    var boxes = self.boxes
    while let box = boxes.next() {
      if box.identity != 0, matches(box) { vacate(box, droppingInto: &garbage) }
    }
  }

  /// Takes note that a walk has vacated boxes.
  mutating func noteVacatedByWalk() {
    companionsLinger = hasCompanions
  }

  /// Exchanges the companion of a registration, and returns the one before.
  mutating func exchangeCompanion(
    of box: WeakBox, with companion: ClientList.Companion
  ) -> ClientList.Companion? {
    let old = box.exchangeCompanion(with: companion)
    // A walk may have it in hand, without owning it.
    if let old, isWalked { exchangedCompanions.append(old) }
    return old
  }

  /// All boxes, in order, the vacated ones among them.
  private var boxes: BoxCursor { BoxCursor(first: first, count: count, stride: stride) }

  /// The place after the last box, in a new segment if the last one is full.
  private mutating func nextFreeBox() -> WeakBox {
    if usedOfLast == last.capacity {
      let capacity = min(last.capacity * 2, ClientSegment.largestCapacity)
      last = last.next ?? last.append(capacity: capacity, stride: stride)
      usedOfLast = 0
    }
    return last.box(at: usedOfLast, stride: stride)
  }
}

// MARK: - Compaction

extension ClientGeneration {
  /// Lets the list grow to twice its size before dead clients are looked for again.
  mutating func raiseLimit() {
    limit = max(IdentityIndex.largestCountWithoutTable, 2 * (count - vacant))
    index.reset(for: limit)
    guard index.exists else { return }
    var boxes = self.boxes
    while let box = boxes.next() {
      if box.identity != 0 { index.insert(box) }
    }
  }

  /// Gives up what only walks had to find still. No walk may be under way.
  mutating func reclaim(droppingInto garbage: inout [AnyObject]) {
    if isSparse {
      compact(droppingInto: &garbage)
    } else {
      dropCompanions(into: &garbage) { box in box.identity == 0 }
    }
  }

  /// Gives up all companions, before the end of this generation.
  mutating func dropCompanions(into garbage: inout [AnyObject]) {
    dropCompanions(into: &garbage) { _ in true }
  }

  private mutating func dropCompanions(
    into garbage: inout [AnyObject], of matches: (WeakBox) -> Bool
  ) {
    guard hasCompanions else { return }
    var boxes = self.boxes
    while let box = boxes.next() {
      if matches(box), let companion = box.takeCompanion() { garbage.append(companion) }
    }
    garbage += exchangedCompanions
    exchangedCompanions = []
    companionsLinger = false
  }

  /// Closes the gaps. No walk may be under way.
  mutating func compact(droppingInto garbage: inout [AnyObject]) {
    dropCompanions(into: &garbage) { box in box.identity == 0 }
    var boxes = self.boxes
    last = first
    usedOfLast = 0
    count = 0
    vacant = 0
    while let box = boxes.next() {
      if box.identity == 0 {
        box.deinitialize()
      } else {
        let place = nextFreeBox()
        if unsafe place.address != box.address { box.move(to: place, stride: stride) }
        usedOfLast += 1
        count += 1
      }
    }
    last.deallocateNext()
    raiseLimit()
  }

  /// A generation of the clients that are registered here and alive.
  ///
  /// - Parameter garbage: Receives every client: the last reference to one may be ours.
  func copy(droppingInto garbage: inout [AnyObject]) -> ClientGeneration {
    var copy = ClientGeneration(stride: stride, hasCompanions: hasCompanions)
    copy.limit = .max
    var boxes = self.boxes
    while let box = boxes.next() {
      let identity = box.identity
      guard identity != 0, let client = unsafe box.header.pointee.client else { continue }
      garbage.append(client)
      #if DEBUG
        let home = unsafe box.header.pointee.home
        if let home { garbage.append(home) }
      #else
        let home: (any Actor)? = nil
      #endif
      let bits = unsafe box.address.advanced(by: WeakBox.headerSize)
      _ = unsafe copy.append(client, identity: identity, bits: bits, home: home)
    }
    copy.raiseLimit()
    return copy
  }
}
