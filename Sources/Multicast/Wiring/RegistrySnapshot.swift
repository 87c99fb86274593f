/// What stands in one of a center's registries at a moment, with types in place of their names: these
/// are given when all types are known that have to be told apart.
enum RegistrySnapshot {
  case delegate(listener: TypeIdentity, clients: [Run<TypeIdentity>])
  case topics(message: TypeIdentity, [TopicSnapshot])
}

/// What stands in the list of a topic at a moment.
struct TopicSnapshot {
  let name: String
  let observers: [Run<ObserverSnapshot>]
}

/// What a wiring tells of an observer.
struct ObserverSnapshot: Hashable {
  let owner: TypeIdentity
  let id: String?
  let isolation: HandlerIsolation
}

// MARK: - Taking them

/// A registry that a wiring shows. All are, but their table knows nothing of wirings.
protocol DrawnRegistry: ClientRegistry {
  /// What stands in it now.
  var snapshot: RegistrySnapshot { get }
}

extension MulticastDelegate: DrawnRegistry {
  var snapshot: RegistrySnapshot {
    var clients: [Run<TypeIdentity>] = []
    clientList.forEachAlive { client, _ in
      clients.append(joining: TypeIdentity(type(of: client)))
      return true
    }
    return .delegate(listener: TypeIdentity(Listener.self), clients: clients)
  }
}

extension TopicRegistry: DrawnRegistry {
  var snapshot: RegistrySnapshot {
    let topics = listsByName.sorted { $0.key < $1.key }
      .map { name, list in TopicSnapshot(name: name, observers: list.observers) }
      .filter { !$0.observers.isEmpty }
    return .topics(message: message, topics)
  }
}

extension TopicList {
  fileprivate var observers: [Run<ObserverSnapshot>] {
    var observers: [Run<ObserverSnapshot>] = []
    forEachObserver { observer, owner in
      observers.append(
        joining: ObserverSnapshot(
          owner: TypeIdentity(type(of: owner)), id: observer.id.map { String(describing: $0) },
          isolation: observer.isolation))
    }
    return observers
  }
}
