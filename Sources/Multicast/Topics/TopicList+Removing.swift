extension TopicList {
  /// Removes all handlers of an owner. Returns their number.
  func removeClient(_ client: AnyObject) -> Int {
    clientList.dropSomeDead()
    var ended = EndedObservers(in: self)
    let removed = clientList.removeAll(of: client) { box in ended.add(box) }
    ended.cancel()
    return removed
  }

  func removeAll() {
    var ended = EndedObservers(in: self)
    clientList.removeAll { box in ended.add(box) }
    ended.cancel()
  }

  func cancel(_ registration: Registration) {
    var ended = EndedObservers(in: self)
    clientList.remove(registration) { box in _ = ended.add(box) }
    ended.cancel()
  }

  /// Observers being removed. They are cancelled with the list's lock released, because this releases their
  /// handlers.
  private struct EndedObservers {
    let list: TopicList
    private var observers: [(TopicObserver, Registration)] = []
    private var groups: [ClientGroup] = []

    init(in list: TopicList) {
      self.list = list
    }

    mutating func add(_ box: WeakBox) -> Bool {
      if let observer = box.companion as? TopicObserver {
        observers.append((observer, box.registration))
      }
      if let group = box.group, group !== groups.last { groups.append(group) }
      return true
    }

    func cancel() {
      let clients = list.clientList
      for (observer, registration) in observers {
        observer.cancel()
        if observer.isAwaited {
          list.office.giveUpLane(observer.laneKey(of: registration, in: clients), of: clients)
        }
        observer.mailbox?.giveUpLetters(in: list.office) { letter in
          guard case .one(let other) = letter.addressee else { return false }
          return letter.isOf(clients) && other.number == registration.number
        }
      }
      for group in groups { group.giveUpLettersIfEmpty(in: clients, of: list.office) }
    }
  }

  /// Calls `body` with the active observers and their live owners. O(*n*).
  func forEachObserver(_ body: (TopicObserver, AnyObject) -> Void) {
    clientList.forEachAlive { owner, box in
      box.withCompanion(as: TopicObserver.self) { observer in
        if observer.handler != nil { body(observer, owner) }
      }
      return true
    }
  }

  /// Closes the list permanently if it has no observers. A topic that keeps its latest message stays, because
  /// an active post may be about to store one.
  func closeIfEmpty() -> Bool { latest == nil && clientList.closeIfEmpty() }
}
