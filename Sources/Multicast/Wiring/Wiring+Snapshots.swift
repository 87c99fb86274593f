extension Wiring {
  /// Names what the snapshots of a center's registries hold.
  init(_ snapshots: [RegistrySnapshot]) {
    let names = TypeNames(snapshots.lazy.flatMap(\.types))
    var protocols: [ListenerProtocol] = []
    var topics: [ObservedTopic] = []
    for snapshot in snapshots {
      switch snapshot {
      case .delegate(let listener, let clients):
        protocols.append(
          ListenerProtocol(
            name: names[listener],
            clients: clients.map { ClientGroup(type: names[$0.element], count: $0.count) }))
      case .topics(let message, let snapshots):
        topics += snapshots.map { topic in
          ObservedTopic(
            name: topic.key.name, keepsLatest: topic.key.keepsLatest, message: names[message],
            observers: topic.observers.map { ObserverGroup($0, names: names) })
        }
      }
    }
    self.init(protocols: protocols, topics: topics)
  }
}

extension Wiring.ObserverGroup {
  fileprivate init(_ run: RunLength<ObserverSnapshot>, names: TypeNames) {
    let observer = run.element
    self.init(
      owner: names[observer.owner], id: observer.id,
      isolation: observer.isolation.naming(observer.actor.map { names[$0] }), count: run.count)
  }
}

extension Wiring.Isolation {
  fileprivate func naming(_ actor: String?) -> Self {
    switch self {
    case .actor(let name): .actor(actor ?? name)
    case .task: .task(actor: actor)
    case .postingThread, .queue: self
    }
  }
}

extension RegistrySnapshot {
  fileprivate var types: [TypeIdentity] {
    switch self {
    case .delegate(let listener, let clients): [listener] + clients.map(\.element)
    case .topics(let message, let topics):
      [message] + topics.flatMap { $0.observers.flatMap(\.element.types) }
    }
  }
}

extension ObserverSnapshot {
  fileprivate var types: [TypeIdentity] { [owner] + (actor.map { [$0] } ?? []) }
}
