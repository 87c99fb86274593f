extension Wiring {
  /// Names what the snapshots of a center's lists hold.
  init(_ snapshots: [ListSnapshot], waiting backlogs: [BacklogSnapshot]) {
    let actors = backlogs.compactMap { $0.mailbox.place.shown.1 }
    let names = TypeNames(snapshots.flatMap(\.types) + actors)
    var protocols: [ListenerProtocol] = []
    var topics: [ObservedTopic] = []
    for list in snapshots {
      switch list.subject {
      case .listener(let type):
        protocols.append(
          ListenerProtocol(
            name: names[TypeIdentity(type)],
            clients: list.listeners.map { ClientGroup($0, names: names) }))
      case .topic(let name, let keepsLatest, let message):
        topics.append(
          ObservedTopic(
            name: name, keepsLatest: keepsLatest, message: names[TypeIdentity(message)],
            observers: list.listeners.map { ObserverGroup($0, names: names) }))
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

extension ListSnapshot {
  fileprivate var types: [TypeIdentity] {
    let key =
      switch subject {
      case .listener(let type), .topic(_, _, let type): TypeIdentity(type)
      }
    return [key] + listeners.flatMap(\.element.types)
  }
}

extension ListenerSnapshot {
  fileprivate var types: [TypeIdentity] { [type] + (actor.map { [$0] } ?? []) }
}
