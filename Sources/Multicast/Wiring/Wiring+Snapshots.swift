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
            name: topic.name, message: names[message],
            observers: topic.observers.map { ObserverGroup($0, names: names) })
        }
      }
    }
    self.init(protocols: protocols, topics: topics)
  }
}

extension Wiring.ObserverGroup {
  fileprivate init(_ run: Run<ObserverSnapshot>, names: TypeNames) {
    self.init(
      owner: names[run.element.owner], id: run.element.id,
      isolation: Wiring.Isolation(run.element.isolation, names: names), count: run.count)
  }
}

extension Wiring.Isolation {
  fileprivate init(_ isolation: HandlerIsolation, names: TypeNames) {
    self =
      switch isolation {
      case .postingThread: .postingThread
      case .actor(let type): .actor(names[type])
      case .queue(let label): .queue(label)
      case .task(let type): .task(actor: type.map { names[$0] })
      }
  }
}

extension RegistrySnapshot {
  /// All types that it names.
  fileprivate var types: [TypeIdentity] {
    switch self {
    case .delegate(let listener, let clients): [listener] + clients.map(\.element)
    case .topics(let message, let topics):
      [message] + topics.flatMap { $0.observers.flatMap(\.element.types) }
    }
  }
}

extension ObserverSnapshot {
  fileprivate var types: [TypeIdentity] {
    switch isolation {
    case .actor(let type), .task(let type?): [owner, type]
    case .postingThread, .queue, .task(nil): [owner]
    }
  }
}
