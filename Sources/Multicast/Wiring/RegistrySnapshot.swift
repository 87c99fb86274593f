/// The contents of a registry at one moment, with types in place of names, which depend on all types.
enum RegistrySnapshot {
  case delegate(listener: TypeIdentity, clients: [RunLength<TypeIdentity>])
  case topics(message: TypeIdentity, [TopicSnapshot])
}

struct TopicSnapshot {
  let key: TopicKey
  let observers: [RunLength<ObserverSnapshot>]
}

struct ObserverSnapshot: Hashable {
  let owner: TypeIdentity
  let id: String?

  /// Where the handler runs. The name of an actor is filled in later.
  let isolation: Wiring.Isolation
  let actor: TypeIdentity?
}

// MARK: - Taking them

/// A registry that a wiring shows. All are, but the registry table does not know wirings.
protocol DrawnRegistry: ClientRegistry {
  var snapshot: RegistrySnapshot { get }
}

extension MulticastDelegate: DrawnRegistry {
  var snapshot: RegistrySnapshot {
    var clients: [RunLength<TypeIdentity>] = []
    clientList.forEachAlive { client, _ in
      clients.append(joining: TypeIdentity(type(of: client)))
      return true
    }
    return .delegate(listener: TypeIdentity(Listener.self), clients: clients)
  }
}

extension TopicRegistry: DrawnRegistry {
  var snapshot: RegistrySnapshot {
    let topics = lists.sorted { $0.key.isOrderedBefore($1.key) }
      .map { list in TopicSnapshot(key: list.key, observers: list.observers) }
      .filter { !$0.observers.isEmpty }
    return .topics(message: message, topics)
  }
}

extension TopicKey {
  fileprivate func isOrderedBefore(_ other: TopicKey) -> Bool {
    name == other.name ? !keepsLatest && other.keepsLatest : name < other.name
  }
}

extension TopicList {
  fileprivate var observers: [RunLength<ObserverSnapshot>] {
    var observers: [RunLength<ObserverSnapshot>] = []
    forEachObserver { observer, owner in
      let (isolation, actor) = observer.isolation
      observers.append(
        joining: ObserverSnapshot(
          owner: TypeIdentity((owner as? any Surrogate)?.shownType ?? type(of: owner)),
          id: owner is any Surrogate ? nil : observer.id.shown, isolation: isolation, actor: actor))
    }
    return observers
  }
}

extension TopicObserver {
  fileprivate var isolation: (Wiring.Isolation, TypeIdentity?) {
    if case .awaited(_, let actor) = handler { return (.task(actor: nil), actor) }
    switch mailbox?.home {
    case .actor(let reference):
      return (.actor(""), reference.actor.map { TypeIdentity(type(of: $0)) })
    case .queue(let queue): return (.queue(queue.queue.label), nil)
    case .lane, nil: return (.postingThread, nil)
    }
  }
}

extension TopicObserver.ID {
  /// The id that the user gave; nil for a call site.
  fileprivate var shown: String? {
    if case .value(let id) = self { String(describing: id) } else { nil }
  }
}
