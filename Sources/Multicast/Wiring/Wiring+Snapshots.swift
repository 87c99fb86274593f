extension Wiring {
  /// Names what the snapshots of a center's registries hold.
  init(_ snapshots: [RegistrySnapshot], waiting backlogs: [BacklogSnapshot]) {
    let actors = backlogs.compactMap { $0.mailbox.place.shown.1 }
    let names = TypeNames(snapshots.flatMap(\.types) + actors)
    var protocols: [ListenerProtocol] = []
    var topics: [ObservedTopic] = []
    for snapshot in snapshots {
      switch snapshot {
      case .delegate(let listener, let clients):
        protocols.append(
          ListenerProtocol(
            name: names[listener],
            clients: clients.map { ClientGroup($0, names: names) }))
      case .topics(let message, let snapshots):
        topics += snapshots.map { topic in
          ObservedTopic(
            name: topic.name, keepsLatest: topic.keepsLatest, message: names[message],
            observers: topic.observers.map { ObserverGroup($0, names: names) })
        }
      }
    }
    let waiting = backlogs.map { backlog in
      let (isolation, actor) = backlog.mailbox.place.shown
      return Backlog(
        isolation: isolation.naming(actor.map { names[$0] }), letters: backlog.letters,
        time: backlog.time)
    }
    self.init(protocols: protocols, topics: topics, waiting: waiting)
  }
}

extension Wiring.ClientGroup {
  fileprivate init(_ run: RunLength<ListenerSnapshot>, names: TypeNames) {
    let client = run.element
    self.init(
      type: names[client.type],
      isolation: client.isolation.naming(client.actor.map { names[$0] }), count: run.count)
  }
}

extension Wiring.ObserverGroup {
  fileprivate init(_ run: RunLength<ListenerSnapshot>, names: TypeNames) {
    let observer = run.element
    self.init(
      owner: names[observer.type], id: observer.id,
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
    case .delegate(let listener, let clients): [listener] + clients.flatMap(\.element.types)
    case .topics(let message, let topics):
      [message] + topics.flatMap { $0.observers.flatMap(\.element.types) }
    }
  }
}

extension ListenerSnapshot {
  fileprivate var types: [TypeIdentity] { [type] + (actor.map { [$0] } ?? []) }
}
