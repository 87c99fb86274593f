/// The kept posts of a listener protocol, by id.
final class KeptPosts: Sendable {
  private struct Entry: Sendable {
    let id: any Hashable & Sendable
    let keeper: Keeper
  }

  /// Posts call the clients without a home one thread at a time, so that these hear kept posts in order. The
  /// others leave their letters here.
  let homeless: Mailbox

  private struct State {
    var entries: [Entry] = []

    /// Changes with the ids of the entries.
    var version = 0
  }

  private let office: PostOffice
  private let state = OfficeGuarded(State())

  init(in office: PostOffice) {
    self.office = office
    homeless = office.makeMailbox(ofHandlerIn: .postingThread)
  }

  /// The kept posts, in their order.
  func latest(_ office: inout PostOffice.State) -> [Keeper.Kept] {
    state.use(&office) { $0.entries }.compactMap { $0.keeper.latest(&office) }
      .sorted { $0.number < $1.number }
  }

  /// Calls `body` with the keeper of an id. It stays the keeper of this id meanwhile.
  func withKeeper<Result>(
    of id: any Hashable & Sendable, _ body: (Keeper) -> Result
  ) -> Result {
    let new = Entry(id: id, keeper: Keeper())
    let keeper = withEntry(of: id) { entry, office in
      if entry == nil {
        state.use(&office) { state in
          state.entries.append(new)
          state.version += 1
        }
      }
      let keeper = (entry ?? new).keeper
      keeper.countPending(1, &office)
      return keeper
    }
    defer {
      let dropped = office.withLock { office in
        keeper.countPending(-1, &office)
        return dropIfUnused(keeper, &office)
      }
      // Ids are released with no lock held.
      extendLifetime(dropped)
    }
    return body(keeper)
  }

  /// Removes the kept post of an id. Returns whether there was one.
  func remove(_ id: any Hashable & Sendable) -> Bool {
    let (old, dropped) = withEntry(of: id) { entry, office in
      entry.map { end($0, &office) } ?? (nil, nil)
    }
    extendLifetime(dropped)
    return old != nil
  }

  func removeAll() {
    let dropped = office.withLock { office in
      state.use(&office) { $0.entries }.map { entry in end(entry, &office) }
    }
    extendLifetime(dropped)
  }

  /// Calls `body` with the entry of an id and the lock held. Compares ids before, with no lock held, and begins
  /// again if they have changed meanwhile.
  private func withEntry<Result: Sendable>(
    of id: any Hashable & Sendable, _ body: (Entry?, inout PostOffice.State) -> Result
  ) -> Result {
    while true {
      let (known, seen) = office.withLock { office in
        state.use(&office) { ($0.entries, $0.version) }
      }
      let entry = known.first { $0.id.isEqual(to: id) }
      let result: Result? = office.withLock { office in
        seen == state.use(&office) { $0.version } ? body(entry, &office) : nil
      }
      if let result { return result }
    }
  }

  /// Ends a kept post. Returns what to release after unlocking.
  private func end(_ entry: Entry, _ office: inout PostOffice.State) -> (Keeper.Kept?, Entry?) {
    (entry.keeper.replaceLatest(with: nil, &office), dropIfUnused(entry.keeper, &office))
  }

  /// Returns the entry of a keeper that was dropped, to release after unlocking.
  private func dropIfUnused(_ keeper: Keeper, _ office: inout PostOffice.State) -> Entry? {
    guard keeper.isUnused(&office) else { return nil }
    return state.use(&office) { state in
      let index = state.entries.firstIndex { $0.keeper === keeper }
      guard let index else { return nil }
      state.version += 1
      return state.entries.remove(at: index)
    }
  }
}

extension Hashable where Self: Sendable {
  /// Whether ids are equal, whatever their types. Runs a client's code, so no lock is held.
  func isEqual(to other: any Hashable & Sendable) -> Bool {
    AnyHashable(self) == AnyHashable(other)
  }
}

extension ClientList {
  /// The mailbox of the clients without a home; nil if the list keeps no posts. Only mailboxes are given to
  /// lists. Another lock may be held.
  var mailboxOfHomeless: Mailbox? {
    homelessMailbox.map { mailbox in unsafe unsafeDowncast(mailbox, to: Mailbox.self) }
  }
}

extension ClientList.Audience {
  /// The number of clients without a home.
  var homelessCount: Int {
    residents.reduce(count) { count, residents in count - residents.count }
  }
}
