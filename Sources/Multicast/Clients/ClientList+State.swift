extension ClientList {
  /// The state that the lock protects.
  ///
  /// A method that drops boxes returns the old state, for the caller to release after unlocking, because the release of a box may
  /// run client code.
  struct State {
    private(set) var boxes: Boxes = []
    private var index = BoxIndex(byClient: true)
    private var keys = BoxIndex(byClient: false)

    /// Whether a box with a key was ever appended. Until then, the second index is not kept.
    private var hasKeys = false

    /// The number of empty boxes.
    private var emptied = 0

    /// The number of boxes at which the list is full. Then ``makeRoom()`` looks for deallocated clients before another box is
    /// appended.
    private var limit = BoxIndex.largestCountWithoutTable

    /// The boxes by home; nil if no post has needed it since the list changed.
    var roster: Roster?

    /// The addresses of the actors and queues in which a search for deallocated clients waits.
    var searched: Set<UInt> = []

    var isFull: Bool { boxes.count >= limit }

    mutating func append(_ box: WeakBox) {
      // First, because the roster shares the array, and the next line would copy it.
      roster = nil
      boxes.append(box)
      index.insertLast(of: boxes)
      // Once a box has a key, the index receives every further box, even one without a key. An index that received only the
      // boxes with keys would not notice that the list becomes too long for a linear search.
      hasKeys = hasKeys || box.key != 0
      if hasKeys { keys.insertLast(of: boxes) }
    }

    /// Ends the registration of a box. Returns false if it had ended already.
    mutating func empty(_ box: WeakBox) -> Bool {
      index.unlink(box, in: boxes)
      keys.unlink(box, in: boxes)
      guard box.empty() else { return false }
      emptied += 1
      return true
    }

    /// The box of a client that the caller holds. Ends the registrations of deallocated clients that had the same address.
    mutating func findAlive(_ identity: UInt) -> WeakBox? {
      while let box = index.last(identity, in: boxes) {
        if box.isAlive { return box }
        _ = empty(box)
      }
      return nil
    }

    /// The registered boxes of a client, which may be deallocated.
    func boxes(of identity: UInt) -> Boxes { index.all(identity, in: boxes) }

    func hasBoxes(of identity: UInt) -> Bool { index.last(identity, in: boxes) != nil }

    /// The registered boxes with a key, beginning with the last one.
    func boxes(with key: UInt) -> Boxes { hasKeys ? keys.all(key, in: boxes) : [] }

    /// The last registered box with a key.
    func lastBox(with key: UInt) -> WeakBox? { hasKeys ? keys.last(key, in: boxes) : nil }

    /// Drops empty boxes if they are more than half of all. Returns the old state: release it after unlocking.
    mutating func compactIfSparse() -> State? { 2 * emptied > boxes.count ? compact() : nil }

    /// Drops empty boxes, and lets the list grow to twice its size. Returns the old state: release it after unlocking. Returns
    /// nil if there are no empty boxes.
    mutating func compact() -> State? {
      if emptied == 0 {
        limit = max(limit, 2 * boxes.count)
        return nil
      }
      var state = State()
      for box in boxes where box.isRegistered { state.append(box) }
      state.limit = max(state.limit, 2 * state.boxes.count)
      state.searched = searched
      return exchange(&self, with: state)
    }
  }
}
