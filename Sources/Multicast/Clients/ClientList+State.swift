extension ClientList {
  /// The state that the lock protects.
  ///
  /// A method that drops boxes returns the old state, for the caller to release after unlocking, because the release of a box may
  /// run client code.
  struct State {
    private(set) var boxes: Boxes = []
    private var byClient = BoxIndex(byClient: true)
    private var byID = BoxIndex(byClient: false)

    /// Whether a box with an id was ever appended. Until then, the second index is not kept.
    private var hasIDs = false

    /// The number of empty boxes.
    private var emptied = 0

    /// The number of boxes at which the list is full. Then ``makeRoom()`` looks for deallocated clients before another box is
    /// appended.
    private var limit = BoxIndex.largestCountWithoutTable

    /// The boxes by home; nil if that was not needed since the list changed.
    var roster: Roster?

    /// The boxes for which a search for deallocated clients waits, by the address of the actor or queue in which it waits.
    var waitingSearches: [UInt: [Roster.Group]] = [:]

    var isFull: Bool { boxes.count >= limit }

    mutating func append(_ box: WeakBox) {
      // First, because the roster shares the array, and the next line would copy it. The list owns the boxes and homes of the
      // roster, so this destroys no others.
      roster = nil
      boxes.append(box)
      byClient.insertLast(of: boxes)
      // Once a box has an id, the index receives every further box, even one without an id. An index that received only the
      // boxes with ids would not notice that the list becomes too long for a linear search.
      hasIDs = hasIDs || box.idHash != 0
      if hasIDs { byID.insertLast(of: boxes) }
    }

    /// Ends the registration of a box. Returns false if it had ended already.
    mutating func empty(_ box: WeakBox) -> Bool {
      byClient.unlink(box, in: boxes)
      byID.unlink(box, in: boxes)
      guard box.empty() else { return false }
      emptied += 1
      return true
    }

    /// The box of a client that the caller holds. Ends the registrations of deallocated clients that had the same address.
    ///
    /// Use this only for clients of listener protocols. The box of a handler holds the handler, which this would not release.
    mutating func findAlive(_ identity: UInt) -> WeakBox? {
      while let box = byClient.last(identity, in: boxes) {
        if box.isAlive { return box }
        _ = empty(box)
      }
      return nil
    }

    /// Whether a client that the caller holds is registered. Its box is the last one with its address.
    func hasAlive(_ identity: UInt) -> Bool {
      byClient.last(identity, in: boxes)?.isAlive ?? false
    }

    /// The registered boxes of a client, which may be deallocated.
    func boxes(of identity: UInt) -> Boxes { byClient.all(identity, in: boxes) }

    func hasBoxes(of identity: UInt) -> Bool { byClient.last(identity, in: boxes) != nil }

    /// The registered boxes with an `idHash`, beginning with the last one.
    func boxes(withID hash: UInt) -> Boxes { hasIDs ? byID.all(hash, in: boxes) : [] }

    /// The last registered box with an `idHash`.
    func lastBox(withID hash: UInt) -> WeakBox? { hasIDs ? byID.last(hash, in: boxes) : nil }

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
      state.waitingSearches = waitingSearches
      return exchange(&self, with: state)
    }
  }
}
