// The walk over listeners, which every delivery that does not await makes. It reads an array of boxes that the caller owns,
// with no lock held, so a client may add and remove clients while it is called.

extension ClientList {
  /// Calls `body` with boxes of this list, in order, and removes the clients that `body` finds deallocated. Returns the number
  /// of clients called.
  ///
  /// The array owns the boxes, so `body` borrows them.
  @inlinable @inline(__always) @discardableResult
  final func forEach<Failure: Error>(
    in boxes: Boxes, _ body: (WeakBox) throws(Failure) -> CallOutcome
  ) throws(Failure) -> Int {
    var called = 0
    var index = 0
    // A `while` loop, because a `for` loop over the indices would compare each index twice.
    while index < boxes.count {
      defer { index &+= 1 }
      switch try boxes.borrow(index, body) {
      case .called: called &+= 1
      case .gone: boxes.borrow(index) { box in _ = endRegistration(of: box) }
      case .skipped: break
      }
    }
    return called
  }

  /// Removes the deallocated clients among boxes of this list. Returns whether every client may be loaded here.
  ///
  /// A client may be loaded only in its home, because the load retains it: if its last owner releases it in that instant, it is
  /// destroyed on this thread. So this skips the clients whose homes are elsewhere. Call it with no lock held, because
  /// destroying a client runs client code.
  ///
  /// - Parameter current: A home in which this thread is known to run.
  @inline(never) @discardableResult
  final func removeDeallocated(in boxes: Boxes, from current: Home? = nil) -> Bool {
    // Neighbors usually have the same home, so this asks the home again only where it changes.
    var home: ObjectIdentifier?
    var mayLoad = true
    var mayLoadAll = true
    forEach(in: boxes) { box in
      let next = box.home.map { ObjectIdentifier($0) }
      if next != home {
        home = next
        mayLoad = box.home?.mayLoad(from: current) ?? true
      }
      mayLoadAll = mayLoadAll && mayLoad
      return mayLoad && box.load() == nil ? .gone : .skipped
    }
    return mayLoadAll
  }

  /// Removes deallocated clients whose homes are elsewhere, with a task for each of these homes, because a client may be loaded
  /// only in its home.
  ///
  /// At most one search of this list waits in each actor or queue, however often this is called. A home that is blocked would
  /// otherwise collect tasks. Each search walks the boxes of its home alone. If it walked the list, the searches of a client in
  /// each of *n* actors would take O(*n*²).
  final func removeDeallocatedElsewhere() {
    let homes = roster.groups.filter { group in !group.home.mayLoad() }
    // The task of each awaiting handler of an actor is a home of its own.
    var groups: [UInt: [Roster.Group]] = [:]
    for group in homes { groups[group.home.address, default: []].append(group) }
    for home in homes.map(\.home) {
      guard let groups = groups.removeValue(forKey: home.address),
        addWaitingSearch(of: groups, in: home)
      else { continue }
      let search = Search(of: self)
      Task.detached { await home.run { search.run(at: home) } }
    }
  }

  /// The number of boxes up to which a whole list is searched for deallocated clients, by `observe`, by the removal of an object
  /// and before unused topics are dropped.
  static var largestCountToSearch: Int { 32 }

  /// Removes the deallocated clients of a short list. Those of a longer list are removed by the next delivery, or when the
  /// list is full.
  ///
  /// Relaxed, because the number is only a limit for the time that this takes.
  final func removeDeallocatedIfShort() {
    if countWithReports.load(ordering: .relaxed) - reports <= Self.largestCountToSearch {
      removeDeallocated(in: boxes)
    }
  }
}

/// A search for deallocated clients of a list, in one home.
///
/// It owns the list, and releases it when it has run. The task that brings it to the home ends some time later, and a topic
/// whose list that task held would look as if it were in use.
final class Search: Sendable {
  private let list: Locked<ClientList?>

  init(of list: ClientList) { self.list = Locked(list) }

  /// Runs the search. A thread in the home may be unable to find out that it runs there: on a global queue, or in an actor on a
  /// system whose runtime does not report it. So the caller passes the home.
  func run(at home: Home) {
    guard let list = list.withLock({ list in exchange(&list, with: nil) }) else { return }
    // Taken first, so that another search may wait for a client that is deallocated during this one.
    for group in list.takeWaitingSearch(in: home) {
      list.removeDeallocated(in: group.boxes, from: home)
    }
  }
}

/// What a delivery has done with one listener.
@usableFromInline enum CallOutcome: Sendable {
  case called

  /// The listener has been deallocated or removed. The walk ends its registration.
  case gone

  /// The listener was not called. If it is registered, it stays so.
  case skipped
}
