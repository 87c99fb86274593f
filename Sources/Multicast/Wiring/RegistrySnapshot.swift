/// The contents of a registry at one moment, with types in place of names, which depend on all types.
enum RegistrySnapshot {
  case delegate(listener: TypeIdentity, clients: [RunLength<ListenerSnapshot>])
  case topics(message: TypeIdentity, [TopicSnapshot])
}

struct TopicSnapshot {
  let name: String
  let keepsLatest: Bool
  let observers: [RunLength<ListenerSnapshot>]
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
  var snapshot: RegistrySnapshot { get }

  /// The lists of clients and observers.
  var lists: [ClientList] { get }
}

extension MulticastDelegate: DrawnRegistry {
  var lists: [ClientList] { [clientList] }

  var snapshot: RegistrySnapshot {
    var clients: [RunLength<ListenerSnapshot>] = []
    clientList.forEachAlive { client, box in
      clients.append(
        joining: ListenerSnapshot(type(of: client), id: nil, at: box.residents?.home))
      return true
    }
    return .delegate(listener: TypeIdentity(Listener.self), clients: clients)
  }
}

extension TopicRegistry: DrawnRegistry {
  var lists: [ClientList] { topics.map(\.clientList) }

  var snapshot: RegistrySnapshot {
    let topics = topics.sorted { $0.name < $1.name }
      .map { list in
        TopicSnapshot(
          name: list.name, keepsLatest: list.keeper != nil, observers: list.observers)
      }
      .filter { !$0.observers.isEmpty }
    return .topics(message: message, topics)
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
  /// - Parameter actor: The type of the actor that an awaited handler runs in.
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
