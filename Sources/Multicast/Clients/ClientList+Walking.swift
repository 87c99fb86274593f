// The one walk over clients. It has an array of boxes, and no lock.

extension ClientList {
  /// Calls `body` with boxes of this list, in order. Returns the number of clients called.
  @inlinable @inline(__always) @discardableResult
  final func forEach<Failure: Error>(
    in boxes: Boxes, _ body: (WeakBox) throws(Failure) -> CallOutcome
  ) throws(Failure) -> Int {
    var (called, index) = (0, 0)
    // A loop over the indices would compare each twice.
    while index < boxes.count {
      defer { index &+= 1 }
      switch try boxes.borrow(index, body) {
      case .called: called &+= 1
      case .deallocated: boxes.borrow(index) { box in _ = remove(box) }
      case .skipped: break
      }
    }
    return called
  }

  /// Finds those among boxes of this list whose clients were deallocated, if they may be loaded here. Returns whether all may.
  ///
  /// Called with no lock held, because a client may be released here last.
  @discardableResult
  final func findDeallocated(in boxes: Boxes) -> Bool {
    // Neighbors mostly have one home, which is asked once.
    var (home, mayLoad, mayLoadAll): (ObjectIdentifier?, Bool, Bool) = (nil, true, true)
    forEach(in: boxes) { box in
      let next = box.home.map { ObjectIdentifier($0) }
      if next != home { (home, mayLoad) = (next, box.mayBeLoaded) }
      mayLoadAll = mayLoadAll && mayLoad
      return mayLoad && box.load() == nil ? .deallocated : .skipped
    }
    return mayLoadAll
  }

  /// Finds deallocated clients in the homes in which this thread does not run, because only their homes may load them.
  ///
  /// One search of a list waits in each actor or queue, however often this is called, so that one that is blocked keeps only that.
  static func findDeallocatedElsewhere(in lists: [ClientList]) {
    var searches: [UInt: (home: Home, lists: [ClientList])] = [:]
    for list in lists {
      for home in list.roster.homes.compactMap(\.home) where !home.mayRelease {
        if list.beginSearch(in: home) {
          searches[home.address, default: (home, [])].lists.append(list)
        }
      }
    }
    for (home, lists) in searches.values {
      Task.detached {
        await home.run {
          for list in lists {
            list.endSearch(in: home)
            list.findDeallocated(in: list.boxes)
          }
        }
      }
    }
  }

  /// Finds deallocated clients of a short list. In a longer one, the next delivery or later adds do.
  final func findSomeDeallocated() {
    if count.load(ordering: .relaxed) <= 32 { findDeallocated(in: boxes) }
  }
}

/// What became of one client in a delivery.
@usableFromInline enum CallOutcome: Sendable {
  case called

  /// It was removed or deallocated.
  case deallocated

  /// It is not concerned.
  case skipped
}
