import Synchronization

/// The boxes of a list in the order in which their clients were added, as they stand from one
/// compaction to the next.
///
/// Boxes are appended and vacated, never moved while somebody walks over them: a notify that began
/// when there were `count` of them walks over the first `count`, whatever is appended or vacated
/// meanwhile, without a lock and without a copy. Compaction is what moves boxes, so it is done in
/// place only while no walk is under way and the list is short. Otherwise a ``ClientSuccessor`` makes a
/// new generation, and this one is retired until the last walk over it has ended.
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
    let endedWalks = Atomic<UInt>(firstWalk)

    /// How many boxes are vacated.
    let vacated = Atomic<Int>(0)
  }

  /// Walks are counted from just below the largest number, so that no list depends on their staying below
  /// it. The counts are only compared, for being equal.
  private static var firstWalk: UInt { .max - 1 }

  /// The most boxes that are looked after while the lock is held once, where their number is not the
  /// caller's own.
  static var largestStep: Int { 256 }

  let stride: Int
  let hasCompanions: Bool
  let first: ClientSegment
  private var last: ClientSegment
  private var usedOfLast = 0
  private var index = IdentityIndex()
  private var directory: SegmentDirectory

  /// The number of boxes, the vacated ones among them.
  private(set) var count = 0

  /// The number of boxes at which dead clients are looked for before another is appended.
  private(set) var limit = IdentityIndex.largestCountWithoutTable

  /// Whether boxes were vacated during a walk, and still hold their companions.
  private var companionsLinger = false

  private var begunWalks = firstWalk

  private var chains: GroupChains

  /// The side of the slots of its groups.
  var side: GroupChains.Side { chains.side }

  #if DEBUG
    /// How many boxes and places were looked after, for tests.
    private(set) var work = 0
  #endif

  let counters: UnsafeMutablePointer<Counters>

  init(stride: Int, hasCompanions: Bool, side: GroupChains.Side = .even) {
    self.stride = stride
    self.hasCompanions = hasCompanions
    chains = GroupChains(side: side)
    first = .allocate(capacity: ClientSegment.smallestCapacity, stride: stride)
    last = first
    directory = SegmentDirectory(first: first, stride: stride)
    unsafe counters = .allocate(capacity: 1)
    unsafe counters.initialize(to: Counters())
  }

  /// Releases the companions, and frees the memory. Without the lock.
  deinit {
    var boxes = self.boxes
    while let box = boxes.next() {
      if hasCompanions { _ = box.takeCompanion() }
      box.deinitialize()
    }
    first.deallocateNext()
    first.deallocate()
    index.free()
    unsafe counters.deinitialize(count: 1)
    unsafe counters.deallocate()
  }

  /// Whether a walk is under way.
  ///
  /// Sequentially consistent on both sides: either this sees that the last walk has ended, or the
  /// end of that walk sees what was left for it to do. Acquire and release would not do for that, since
  /// each side writes one thing and then reads the other's. They are part of it, and do for the rest: all
  /// that a walk has read and counted comes before what is moved, written or freed when it has ended.
  var isWalked: Bool {
    unsafe counters.pointee.endedWalks.load(ordering: .sequentiallyConsistent) != begunWalks
  }

  /// How many of the boxes are vacated. Walks make it more, at any moment.
  ///
  /// Relaxed: while somebody walks, it only says whether to look again. It is set where nobody walks, and
  /// the end of the last walk has made its counts known by then: see ``isWalked``.
  private(set) var vacant: Int {
    get { unsafe counters.pointee.vacated.load(ordering: .relaxed) }
    nonmutating set { unsafe counters.pointee.vacated.store(newValue, ordering: .relaxed) }
  }

  /// Whether more boxes are vacated than not, so that compaction pays.
  var isSparse: Bool { 2 * vacant > count }

  /// Whether something is kept that nobody can find any more.
  var needsReclaiming: Bool { isSparse || companionsLinger }

  /// Whether no client is registered, dead or alive.
  var isEmpty: Bool { count == vacant }

  var isFull: Bool { count >= limit }

  /// The groups of the clients.
  var groups: [ClientGroup] { chains.groups }

  mutating func beginWalk() {
    begunWalks &+= 1
  }

  /// All boxes, in order, the vacated ones among them.
  var boxes: BoxCursor { BoxCursor(first: first, count: count, stride: stride) }

  /// The boxes in the group of a subject, in the same order.
  func boxes(inGroupOf subject: AnyObject & Sendable) -> BoxCursor {
    existingGroup(of: subject).flatMap { chains.boxes(of: $0, stride: stride) }
      ?? BoxCursor(first: first, count: 0, stride: stride)
  }
}

// MARK: - Membership

extension ClientGeneration {
  /// The box registered for this key, whose client may be dead.
  func find(_ key: borrowing ClientKey) -> WeakBox? {
    find(key.identity, where: key.matches)
  }

  /// The first box with this identity that matches.
  private func find(_ identity: UInt, where matches: (WeakBox) -> Bool) -> WeakBox? {
    if index.exists { return index.find(identity, in: directory, where: matches) }
    var boxes = self.boxes
    while let box = boxes.next() {
      if box.identity == identity, matches(box) { return box }
    }
    return nil
  }

  /// The group of a subject, which is new if it has none here yet.
  func group(of subject: AnyObject & Sendable) -> ClientGroup {
    existingGroup(of: subject) ?? ClientGroup(subject)
  }

  /// The group of a subject, if it has one here.
  func existingGroup(of subject: AnyObject & Sendable) -> ClientGroup? {
    chains.existingGroup(of: subject)
  }

  /// Appends a box for a client that has none here. Returns false if the client is in its `deinit`.
  mutating func append(
    _ client: AnyObject, number: UInt64, group: ClientGroup?, bits: UnsafeRawPointer,
    droppingInto toRelease: inout [AnyObject]
  ) -> Bool {
    let box = nextFreeBox()
    guard
      unsafe box.initialize(
        client: client, number: number, group: group, bits: bits,
        size: stride - WeakBox.headerSize)
    else { return false }
    take(box, group: group, droppingInto: &toRelease)
    return true
  }

  /// Makes the index of a generation that is to have `count` boxes, so that it need not grow to that size.
  mutating func reserveIndex(for count: Int) {
    if count > IdentityIndex.largestCountWithoutTable { index.make(for: count) }
  }

  /// Appends a copy of a box of another generation, whose client had this identity and may be dead.
  mutating func append(
    copyOf box: WeakBox, identity: UInt, droppingInto toRelease: inout [AnyObject]
  ) {
    let copy = nextFreeBox()
    copy.initialize(copyOf: box, identity: identity, size: stride - WeakBox.headerSize)
    take(copy, group: box.group, droppingInto: &toRelease)
  }

  /// Takes the next free box, which has been filled, into the list.
  private mutating func take(
    _ box: WeakBox, group: ClientGroup?, droppingInto toRelease: inout [AnyObject]
  ) {
    if let group {
      group.countIn()
      chains.append(box, to: group)
    }
    if hasCompanions { box.retainCompanion() }
    usedOfLast += 1
    count += 1
    indexLast(droppingInto: &toRelease)
  }

  /// Adds the last box to the index, if the list is long enough for one.
  private mutating func indexLast(droppingInto toRelease: inout [AnyObject]) {
    var place = UInt32(count - 1)
    if !index.exists {
      guard count > IdentityIndex.largestCountWithoutTable else { return }
      index.make(for: count)
      place = 0
    }
    while place < count {
      note(index.insert(place, of: directory, droppingInto: &toRelease))
      place += 1
    }
  }

  /// Puts another companion in the place of a registered one, with a number and a group of its own. No walk
  /// may be under way. Returns the companion before.
  ///
  /// O(1) in the same group, and O(*n*) in another one.
  mutating func replaceCompanion(
    of box: WeakBox, with companion: ClientList.Companion, number: UInt64, group: ClientGroup?
  ) -> ClientList.Companion? {
    unsafe box.header.pointee.number = number
    if let old = box.group {
      if let group, group === old { return box.exchangeCompanion(with: companion) }
      box.countOut()
      chains.unlink(box, from: old, after: lastBox(of: old, before: box))
    }
    if let group {
      group.countIn()
      chains.link(box, into: group, after: lastBox(of: group, before: box))
    }
    box.setGroup(group)
    return box.exchangeCompanion(with: companion)
  }

  private func lastBox(of group: ClientGroup, before box: WeakBox) -> WeakBox? {
    var last: WeakBox?
    var boxes = self.boxes
    while let other = boxes.next(), other != box {
      if other.isIn(group) { last = other }
    }
    return last
  }

  /// Ends a registration. Walks that are under way see it at once.
  mutating func vacate(_ box: WeakBox, droppingInto toRelease: inout [AnyObject]) {
    guard unsafe box.vacate(countingIn: counters) else { return }
    guard hasCompanions else { return }
    if isWalked {
      companionsLinger = true
    } else if let companion = box.takeCompanion() {
      toRelease.append(companion)
    }
  }

  /// Ends the registrations of one client that match, and returns how many of them were of a client that
  /// is alive: a dead one was somebody else, on the same address.
  mutating func vacateAll(
    of identity: UInt, droppingInto toRelease: inout [AnyObject], where matches: (WeakBox) -> Bool
  ) -> Int {
    var found: [WeakBox] = []
    _ = find(identity) { box in
      if matches(box) { found.append(box) }
      return false
    }
    var alive = 0
    for box in found where box.identity != 0 {
      if box.isAlive { alive += 1 }
      vacate(box, droppingInto: &toRelease)
    }
    return alive
  }

  /// Ends the registrations that match.
  mutating func vacateAll(
    droppingInto toRelease: inout [AnyObject], where matches: (WeakBox) -> Bool
  ) {
    var boxes = self.boxes
    while let box = boxes.next() {
      if box.identity != 0, matches(box) { vacate(box, droppingInto: &toRelease) }
    }
  }

  /// Takes note that a walk has vacated boxes.
  mutating func noteVacatedByWalk() {
    companionsLinger = hasCompanions
  }

  /// The place after the last box, in a new segment if the last one is full.
  private mutating func nextFreeBox() -> WeakBox {
    if usedOfLast == last.capacity {
      let capacity = min(last.capacity * 2, ClientSegment.largestCapacity)
      if let next = last.next {
        last = next
      } else {
        last = last.append(capacity: capacity, stride: stride)
        directory.append(last)
      }
      usedOfLast = 0
    }
    return last.box(at: usedOfLast, stride: stride)
  }
}

// MARK: - Compaction

extension ClientGeneration {
  /// Lets the list grow to twice its size before dead clients are looked for again.
  ///
  /// What counts is the number of boxes. How many of them are vacated may change at any moment, since walks
  /// vacate without the lock.
  mutating func raiseLimit() {
    limit = max(IdentityIndex.largestCountWithoutTable, 2 * count)
  }

  /// Gives up the companions of removed clients. No walk may be under way.
  mutating func dropCompanions(droppingInto toRelease: inout [AnyObject]) {
    dropCompanions(into: &toRelease) { box in box.identity == 0 }
  }

  private mutating func dropCompanions(
    into toRelease: inout [AnyObject], of matches: (WeakBox) -> Bool
  ) {
    guard hasCompanions else { return }
    var boxes = self.boxes
    while let box = boxes.next() {
      if matches(box), let companion = box.takeCompanion() { toRelease.append(companion) }
    }
    companionsLinger = false
  }

  /// Closes the gaps. No walk may be under way, and the list must be short.
  mutating func compact(droppingInto toRelease: inout [AnyObject]) {
    dropCompanions(into: &toRelease) { box in box.identity == 0 }
    toRelease += chains.groups as [AnyObject]
    chains = GroupChains(side: chains.side)
    index.free()
    index = IdentityIndex()
    note(count)
    var boxes = self.boxes
    last = first
    var segments = 1
    usedOfLast = 0
    count = 0
    vacant = 0
    while let box = boxes.next() {
      if box.identity == 0 {
        box.deinitialize()
      } else {
        if usedOfLast == last.capacity { segments += 1 }
        let place = nextFreeBox()
        if place != box { box.move(to: place, stride: stride) }
        if let group = place.group {
          unsafe place.header.pointee.nextInGroup = nil
          chains.append(place, to: group)
        }
        usedOfLast += 1
        count += 1
        indexLast(droppingInto: &toRelease)
      }
    }
    last.deallocateNext()
    directory.removeLast(keeping: segments)
    raiseLimit()
  }

  /// Takes note of work that is done with the lock held. It is nothing in a release build.
  mutating func note(_ boxes: Int) {
    #if DEBUG
      work += boxes
    #endif
  }

  #if DEBUG
    mutating func takeWork() -> Int {
      defer { work = 0 }
      return work
    }
  #endif
}
