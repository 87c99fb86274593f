import Synchronization

/// The boxes of a list in the order in which their clients were added, as they stand from one
/// compaction to the next.
///
/// Boxes are appended and vacated, never moved while somebody walks over them: a notify that began
/// when there were `count` of them walks over the first `count`, whatever is appended or vacated
/// meanwhile, without a lock and without a copy. Compaction is what moves boxes, so it is done in
/// place only while no walk is under way; otherwise ``copy(keepingAlive:)`` makes a new generation,
/// and this one is retired until the last walk over it has ended.
///
/// All of it belongs to the lock of the ``ClientList``, except what ``endedWalks`` points to.
@safe
struct ClientGeneration: ~Copyable {
  private let stride: Int
  let first: ClientSegment
  private var last: ClientSegment
  private var usedOfLast = 0
  private var index = IdentityIndex()

  /// The number of boxes, the vacated ones among them.
  private(set) var count = 0

  /// How many of the boxes are known to be vacated.
  private(set) var vacant = 0

  /// The number of boxes at which dead clients are looked for before another is appended.
  private(set) var limit = IdentityIndex.largestCountWithoutTable

  private var begunWalks = 0

  /// How many walks have ended. Counted by the walkers, without the lock, and therefore in memory of
  /// its own.
  let endedWalks: UnsafeMutablePointer<Atomic<Int>>

  init(stride: Int) {
    self.stride = stride
    first = .allocate(capacity: ClientSegment.smallestCapacity, stride: stride)
    last = first
    unsafe endedWalks = .allocate(capacity: 1)
    unsafe endedWalks.initialize(to: Atomic(0))
  }

  deinit {
    forEachBox { box in box.deinitialize() }
    first.deallocateNext()
    first.deallocate()
    index.free()
    unsafe endedWalks.deinitialize(count: 1)
    unsafe endedWalks.deallocate()
  }

  /// Whether a walk is under way.
  ///
  /// Sequentially consistent on both sides: either this sees that the last walk has ended, or the
  /// end of that walk sees what was left for it to do.
  var isWalked: Bool {
    unsafe endedWalks.pointee.load(ordering: .sequentiallyConsistent) != begunWalks
  }

  /// Whether more boxes are vacated than not, so that compaction pays.
  var isSparse: Bool { vacant > count - vacant }

  var isFull: Bool { count == limit }

  mutating func beginWalk() {
    begunWalks += 1
  }
}

// MARK: - Membership

extension ClientGeneration {
  /// The box registered for this identity, whose client may be dead.
  func find(_ identity: UInt) -> WeakBox? {
    if index.exists { return index.find(identity) }
    var found: WeakBox?
    forEachBox { box in
      if box.identity == identity { found = box }
    }
    return found
  }

  /// Appends a box for a client that has none here. Returns false if the client is in its `deinit`.
  mutating func append(
    _ client: AnyObject, bits: UnsafeRawPointer, home: (any Actor)?
  ) -> Bool {
    let box = nextFreeBox()
    let size = stride - WeakBox.headerSize
    guard unsafe box.initialize(client: client, bits: bits, size: size, home: home) else {
      return false
    }
    usedOfLast += 1
    count += 1
    index.insert(box)
    return true
  }

  mutating func vacate(_ box: WeakBox) {
    if box.vacate() { vacant += 1 }
  }

  mutating func vacateAll() {
    var vacated = 0
    forEachBox { box in
      if box.vacate() { vacated += 1 }
    }
    vacant += vacated
  }

  /// Counts boxes that a walk has vacated.
  mutating func noteVacated(_ number: Int) {
    vacant += number
  }

  /// Calls `body` with every box, in order, the vacated ones too.
  func forEachBox(_ body: (WeakBox) -> Void) {
    var cursor = BoxCursor(first: first, count: count, stride: stride)
    while let box = cursor.next() { body(box) }
  }

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
    forEachBox { box in
      if box.identity != 0 { index.insert(box) }
    }
  }

  /// Closes the gaps. No walk may be under way.
  mutating func compact() {
    var boxes = BoxCursor(first: first, count: count, stride: stride)
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
  /// - Parameter keepingAlive: Receives every client. The caller drops them after it has released
  ///   the lock: the last reference to a client may be among them.
  func copy(keepingAlive clients: inout [AnyObject]) -> ClientGeneration {
    var copy = ClientGeneration(stride: stride)
    copy.limit = .max
    forEachBox { box in
      guard box.identity != 0, let client = unsafe box.header.pointee.client else { return }
      clients.append(client)
      #if DEBUG
        let home = unsafe box.header.pointee.home
      #else
        let home: (any Actor)? = nil
      #endif
      let bits = unsafe box.address.advanced(by: WeakBox.headerSize)
      _ = unsafe copy.append(client, bits: bits, home: home)
    }
    copy.raiseLimit()
    return copy
  }
}
