/// The contents of a list at one moment, with types in place of names, which depend on all types.
struct ListSnapshot {
  let subject: DeliverySubject
  let listeners: [RunLength<ListenerSnapshot>]
}

/// A client, or an observer with its owner's type.
struct ListenerSnapshot: Hashable {
  let type: TypeIdentity
  let id: String?

  /// Where it is called. The name of an actor is filled in later.
  let isolation: Wiring.Isolation
  let actor: TypeIdentity?
}

/// A home in which letters wait.
struct BacklogSnapshot {
  let mailbox: Mailbox
  let letters: Int
  let time: DeliveryEvent.Duration?
}

// MARK: - Taking them

/// A registry that a wiring shows. All are, but the registry table does not know wirings.
protocol DrawnRegistry: ClientRegistry {
  /// The lists that it shows, in order.
  var snapshots: [ListSnapshot] { get }

  /// The lists of clients and observers.
  var lists: [ClientList] { get }
}

extension MulticastDelegate: DrawnRegistry {
  var lists: [ClientList] { [clientList] }

  var snapshots: [ListSnapshot] {
    var clients: [RunLength<ListenerSnapshot>] = []
    clientList.forEachAlive { client, box in
      clients.append(
        joining: ListenerSnapshot(type(of: client), id: nil, at: box.residents?.home))
      return true
    }
    return [ListSnapshot(subject: .listener(Listener.self), listeners: clients)]
  }
}

extension TopicRegistry: DrawnRegistry {
  var lists: [ClientList] { topics.map(\.clientList) }

  var snapshots: [ListSnapshot] {
    topics.sorted { $0.name < $1.name }
      .map { ListSnapshot(subject: $0.subject, listeners: $0.observers) }
      .filter { !$0.listeners.isEmpty }
  }
}

extension TopicList {
  fileprivate var observers: [RunLength<ListenerSnapshot>] {
    var observers: [RunLength<ListenerSnapshot>] = []
    forEachObserver { observer, owner in
      observers.append(
        joining: ListenerSnapshot(
          (owner as? any Surrogate)?.shownType ?? type(of: owner),
          id: observer.id.map { String(describing: $0) }, at: observer.mailbox))
    }
    return observers
  }
}

extension ListenerSnapshot {
  fileprivate init(_ type: any Any.Type, id: String?, at mailbox: Mailbox?) {
    self.type = TypeIdentity(type)
    self.id = id
    (isolation, actor) = mailbox?.place.shown ?? (.postingThread, nil)
  }
}

extension Place {
  /// The place, and the type of an actor, whose name is filled in later.
  var shown: (Wiring.Isolation, TypeIdentity?) {
    switch self {
    case .mainActor: (.actor(""), TypeIdentity(MainActor.self))
    case .actor(let reference):
      (.actor(""), reference.actor.map { TypeIdentity(Swift.type(of: $0)) })
    case .queue(let queue): (.queue(queue.queue.label), nil)
    case .task(_, let actor): (.task(actor: nil), actor)
    case .postingThread: (.postingThread, nil)
    }
  }
}
