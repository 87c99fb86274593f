extension TopicList {
  /// Removes all handlers of an owner. Returns their number.
  func removeClient(_ client: AnyObject) -> Int {
    clientList.dropSomeDead()
    return clientList.removeAll(of: client) { _ in true }
  }

  /// Removes all handlers. Returns the number of those that were active.
  func removeAllHandlers() -> Int {
    var ended: [TopicObserver] = []
    clientList.removeAll { box in
      if let observer = box.companion as? TopicObserver { ended.append(observer) }
      return true
    }
    return ended.count { observer in observer.cancel() }
  }

  /// Calls `body` with the active observers and their live owners. O(*n*).
  func forEachObserver(_ body: (TopicObserver, AnyObject) -> Void) {
    clientList.forEachAlive { owner, box in
      box.withCompanion(as: TopicObserver.self) { observer in
        if observer.isActive { body(observer, owner) }
      }
      return true
    }
  }

  /// Closes the list permanently if it has no observers, and keeps no message. Returns whether it is closed.
  ///
  /// O(1) if the first observer's owner is alive.
  func closeIfEmpty() -> Bool {
    guard clientList.countAlive(upTo: 1) == 0 else { return false }
    guard let keeper else { return clientList.closeIfEmpty() }
    return office.withLock { state in keeper.isUnused(&state) && clientList.closeIfEmpty() }
  }
}
