/// The observers of one topic. It needs no type of message: see ``TopicHandler``.
@usableFromInline
final class TopicList: Sendable {
  private let clientList = ClientList(
    stride: WeakBox.stride(for: AnyObject.self), hasCompanions: true)
  private let name: @Sendable () -> String
  private let reentrancyGuard: ReentrancyGuard

  /// - Parameter name: Tells the name and the type of the topic, for reports.
  init(reentrancyGuard: ReentrancyGuard, name: @escaping @Sendable () -> String) {
    self.name = name
    self.reentrancyGuard = reentrancyGuard
  }
}

// MARK: - Membership

extension TopicList {
  /// Adds an observer, or puts it in the place of the one that its owner has under the same id. Returns
  /// false if the list has been closed.
  func place(_ observer: TopicObserver, of owner: AnyObject) -> Bool {
    observer.willBePlaced(in: self)
    while true {
      switch clientList.place(observer, of: owner, for: key(observer.owner, observer.id)) {
      case .added: return true
      case .existing(let old):
        guard clientList.replace(old, with: observer, of: owner) != nil else { continue }
        if let old = old as? TopicObserver { observer.hasReplaced(old) }
        return true
      case .refused:
        observer.status.cancel()
        return true
      case .closed: return false
      }
    }
  }

  /// Removes an observer, if it has not been replaced.
  func remove(_ observer: TopicObserver) {
    let key = ClientKey(observer.owner) { box in
      box.withCompanion(as: TopicObserver.self) { $0 === observer } ?? false
    }
    clientList.remove(key)
  }

  /// Calls `body` with the observers that take messages, and with their owners, which are alive. O(*n*).
  func forEachObserver(_ body: (TopicObserver, AnyObject) -> Void) {
    clientList.forEachAlive { owner, box in
      box.withCompanion(as: TopicObserver.self) { observer in
        if observer.status.isActive { body(observer, owner) }
      }
      return true
    }
  }

  func closeIfEmpty() -> Bool { clientList.closeIfEmpty() }

  private func key(
    _ owner: ObjectIdentifier, _ id: (any Hashable & Sendable)?
  ) -> ClientKey {
    ClientKey(owner) { box in
      box.withCompanion(as: TopicObserver.self) { $0.isKept(by: owner, under: id) } ?? false
    }
  }
}

extension TopicList {
  func removeClient(_ client: AnyObject) -> Int {
    clientList.dropSomeDead()
    let owner = ObjectIdentifier(client)
    var cancelled: [TopicObserver] = []
    let removed = clientList.removeAll(of: client) { box in
      box.withCompanion(as: TopicObserver.self) { observer in
        guard observer.owner == owner else { return false }
        cancelled.append(observer)
        return true
      } ?? false
    }
    for observer in cancelled { observer.cancel() }
    return removed
  }

  func removeAll() {
    var cancelled: [TopicObserver] = []
    clientList.removeAll { box in
      box.withCompanion(as: TopicObserver.self) { observer in cancelled.append(observer) }
      return true
    }
    for observer in cancelled { observer.cancel() }
  }
}

// MARK: - Posting

extension TopicList {
  /// Has every observer take a message, and returns how many did.
  ///
  /// - Parameter message: A message of the topic's type.
  @usableFromInline
  func post(_ message: ErasedMessage, isolation: (any Actor)?, from site: CallSite) -> Int {
    if clientList.isEmpty { return 0 }
    var notify = ActiveNotify(list: ObjectIdentifier(clientList), site: site)
    return unsafe withUnsafeMutablePointer(to: &notify) { notify in
      guard unsafe reentrancyGuard.enter(notify, listener: name) else { return 0 }
      defer { unsafe notify.pointee.pop() }
      return deliver(message, isolation: isolation, receipt: nil)
    }
  }

  /// As ``post(_:isolation:from:)``, and returns when every handler has run.
  nonisolated(nonsending) func postAndWait<Message>(
    _ message: Message, isolation: (any Actor)?, from site: CallSite
  ) async -> Int {
    if clientList.isEmpty { return 0 }
    guard
      let link = reentrancyGuard.enterAwaited(
        list: ObjectIdentifier(clientList), site: site, listener: name)
    else { return 0 }
    return await link.deliver {
      var called = 0
      await withCheckedContinuation { continuation in
        called = ErasedMessage.lend(message) { message in
          deliver(message, isolation: isolation, receipt: Receipt(continuation))
        }
      }
      return called
    }
  }

  private func deliver(
    _ message: ErasedMessage, isolation: (any Actor)?, receipt: Receipt?
  ) -> Int {
    var walk = clientList.beginWalk()
    var taken = 0
    while let box = walk.next() {
      guard let owner = box.load() else {
        walk.noteDead(box)
        continue
      }
      let reception = box.withCompanion(as: TopicObserver.self) { observer in
        if !observer.status.isActive, let replacement = observer.replacement {
          return replacement.receive(
            message, owner: owner, isolation: isolation, receipt: receipt)
        }
        return observer.receive(message, owner: owner, isolation: isolation, receipt: receipt)
      }
      if let reception, reception != .refused { taken += 1 }
    }
    return taken
  }
}
