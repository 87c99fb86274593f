/// The boxes of a list, in order, from one compaction to the next.
///
/// Boxes are appended and vacated, and do not move during a walk. A walk that begins with `count` boxes
/// visits these, without a lock and without a copy. Compaction moves boxes, so it is done in place only in a
/// short list without walks. Otherwise a ``ClientSuccessor`` makes a new generation, and this one is retired
/// until its last walk ends.
///
/// The `deinit` of a released object may use the list, so nothing is released here, where the list's lock is
/// held. `toRelease` receives such objects.
///
/// The lock of the ``ClientList`` protects it, except for what walks count without: see ``WalkCounts``.
@safe
struct ClientGeneration: ~Copyable {
  /// The largest number of boxes processed while the lock is held, except for callers that pass their own.
  static var largestStep: Int { 256 }

  let stride: Int
  let hasCompanions: Bool
  private var segments: ClientSegments
  private var index = IdentityIndex()

  /// The number of boxes, including vacated ones.
  private(set) var count = 0

  /// The number of boxes at which deallocated clients are reclaimed before another client is appended.
  private(set) var limit = IdentityIndex.largestCountWithoutTable

  /// Whether boxes vacated during a walk still hold their companions.
  private var companionsLinger = false

  private var walks = WalkCounts()

  private var chains: ResidentChains

  var side: ResidentChains.Side { chains.side }

  /// Whether a client without a home was added since the last compaction.
  private(set) var hasHomeless = false

  #if DEBUG
    /// The number of boxes and entries processed, for tests.
    private(set) var work = 0
  #endif

  init(stride: Int, hasCompanions: Bool, side: ResidentChains.Side = .even) {
    self.stride = stride
    self.hasCompanions = hasCompanions
    segments = ClientSegments(stride: stride)
    chains = ResidentChains(side: side)
  }

  /// Releases the companions and frees the memory. Called with the lock released.
  deinit {
    var boxes = self.boxes
    while let box = boxes.next() {
      if hasCompanions { _ = box.takeCompanion() }
      box.deinitialize()
    }
    segments.deallocate()
    index.free()
  }

  /// Whether a walk is active.
  var isWalked: Bool { walks.areActive }

  /// The number of vacated boxes. Walks increase it at any time.
  var vacant: Int { walks.vacated }

  /// Whether compaction pays.
  var isSparse: Bool { 2 * vacant > count }

  /// Whether there is memory or a companion to reclaim.
  var needsReclaiming: Bool { isSparse || companionsLinger }

  /// Whether no client is registered, alive or deallocated.
  var isEmpty: Bool { count == vacant }

  var isFull: Bool { count >= limit }

  /// The clients by home, in the order of the homes' first clients. Some may be empty.
  var residents: [Residents] { chains.all }

  mutating func beginWalk() { walks.begin() }

  /// What walks count without the lock. The address identifies the generation.
  var counters: UnsafeMutablePointer<WalkCounts.Counters> { unsafe walks.counters }

  var first: ClientSegment { segments.first }

  /// All boxes, in order, including vacated ones.
  var boxes: BoxCursor { BoxCursor(first: first, count: count, stride: stride) }

  func boxes(at mailbox: AnyObject & Sendable) -> BoxCursor {
    chains.existing(of: mailbox).flatMap { chains.boxes(of: $0, stride: stride) }
      ?? BoxCursor(first: first, count: 0, stride: stride)
  }
}

// MARK: - Membership

extension ClientGeneration {
  /// The box with this key. Its client may be deallocated.
  func find(_ key: borrowing ClientKey) -> WeakBox? {
    find(key.identity, where: key.matches)
  }

  private func find(_ identity: UInt, where matches: (WeakBox) -> Bool) -> WeakBox? {
    if index.exists { return index.find(identity, in: segments, where: matches) }
    var boxes = self.boxes
    while let box = boxes.next() {
      if box.identity == identity, matches(box) { return box }
    }
    return nil
  }

  /// The residents of a home. Makes them if there are none.
  func residents(of mailbox: AnyObject & Sendable) -> Residents {
    chains.existing(of: mailbox) ?? Residents(of: mailbox)
  }

  /// Appends a box for an unregistered client. Returns false if the client is being deinitialized.
  mutating func append(
    _ client: AnyObject, number: UInt64, residents: Residents?, bits: UnsafeRawPointer,
    droppingInto toRelease: inout [AnyObject]
  ) -> Bool {
    let box = segments.box(after: count)
    guard
      unsafe box.initialize(
        client: client, number: number, residents: residents, bits: bits,
        size: stride - WeakBox.headerSize)
    else { return false }
    take(box, residents: residents, droppingInto: &toRelease)
    return true
  }

  mutating func reserveIndex(for count: Int) {
    if count > IdentityIndex.largestCountWithoutTable { index.make(for: count) }
  }

  /// Appends a copy of another generation's box. `identity` is its client's, which may be deallocated.
  mutating func append(
    copyOf box: WeakBox, identity: UInt, droppingInto toRelease: inout [AnyObject]
  ) {
    let copy = segments.box(after: count)
    copy.initialize(copyOf: box, identity: identity, size: stride - WeakBox.headerSize)
    take(copy, residents: box.residents, droppingInto: &toRelease)
  }

  /// Adds the next free box, which has been initialized, to the list.
  private mutating func take(
    _ box: WeakBox, residents: Residents?, droppingInto toRelease: inout [AnyObject]
  ) {
    if let residents {
      residents.countIn()
      chains.append(box, to: residents)
    } else {
      hasHomeless = true
    }
    if hasCompanions { box.retainCompanion() }
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
      note(index.insert(place, of: segments, droppingInto: &toRelease))
      place += 1
    }
  }

  /// Ends a registration. Active walks see that at once.
  mutating func vacate(_ box: WeakBox, droppingInto toRelease: inout [AnyObject]) {
    guard unsafe box.vacate(countingIn: counters) else { return }
    guard hasCompanions else { return }
    if isWalked {
      companionsLinger = true
    } else if let companion = box.takeCompanion() {
      toRelease.append(companion)
    }
  }

  /// Ends the matching registrations of one client. Returns how many belonged to a live client. A deallocated
  /// one was another client at the same address.
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

  mutating func vacateAll(
    droppingInto toRelease: inout [AnyObject], where matches: (WeakBox) -> Bool
  ) {
    var boxes = self.boxes
    while let box = boxes.next() {
      if box.identity != 0, matches(box) { vacate(box, droppingInto: &toRelease) }
    }
  }

  mutating func noteVacatedByWalk() {
    companionsLinger = hasCompanions
  }
}

// MARK: - Compaction

extension ClientGeneration {
  /// Lets the list grow to twice its size before deallocated clients are reclaimed again.
  ///
  /// Counts vacated boxes too, because walks may change their number at any time.
  mutating func raiseLimit() {
    limit = max(IdentityIndex.largestCountWithoutTable, 2 * count)
  }

  /// Releases the companions of removed clients. No walk may be active.
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

  /// Moves the boxes together. No walk may be active, and the list must be short.
  mutating func compact(droppingInto toRelease: inout [AnyObject]) {
    dropCompanions(into: &toRelease) { box in box.identity == 0 }
    toRelease += chains.all as [AnyObject]
    chains = ResidentChains(side: chains.side)
    hasHomeless = false
    index.free()
    index = IdentityIndex()
    note(count)
    var boxes = self.boxes
    count = 0
    walks.vacated = 0
    while let box = boxes.next() {
      if box.identity == 0 {
        box.deinitialize()
      } else {
        let place = segments[count]
        if place != box { box.move(to: place, stride: stride) }
        if let residents = place.residents {
          chains.append(place, to: residents)
        } else {
          hasHomeless = true
        }
        count += 1
        indexLast(droppingInto: &toRelease)
      }
    }
    segments.removeAll(after: count)
    raiseLimit()
  }

  /// Counts work done with the lock held, in debug builds.
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
