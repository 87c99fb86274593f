extension MulticastCenter {
  /// The listeners at this moment: every listener protocol with its clients, and every topic with its
  /// observers.
  ///
  /// Calls only the `description` of ids. Reads one list after the other, so a concurrent change may show in
  /// one list and not in the next. Holds each client without a home, or with its home here, for an instant. Shows the
  /// others until their homes have noticed their end, as ``MulticastDelegate/count`` counts them.
  ///
  /// - Complexity: O(*n*) in the number of clients and observers, and the time to sort topics by name.
  public var wiring: Wiring {
    let lists = registries.all.flatMap(\.lists)
    let snapshots = lists.map { ListSnapshot($0) }
    let names = TypeNames(snapshots.flatMap { [$0.type] + $0.listeners.map(\.type) })
    return Wiring(
      protocols: snapshots.filter { !$0.isTopic }.map { $0.named(by: names) },
      topics: snapshots.filter { $0.isTopic && !$0.listeners.isEmpty }.map { $0.named(by: names) },
      waiting: backlogs(of: lists))
  }

  /// The homes of lists in which letters wait.
  private func backlogs(of lists: [ClientList]) -> [Wiring.Backlog] {
    var seen: Set<ObjectIdentifier> = []
    var backlogs: [Wiring.Backlog] = []
    for list in lists {
      list.roster.forEachHome { _, mailbox in
        guard seen.insert(ObjectIdentifier(mailbox)).inserted else { return }
        let (count, time) = office.withLock { state in mailbox.backlog(&state) }
        if count == 0 { return }
        backlogs.append(
          Wiring.Backlog(home: mailbox.place.description, letters: count, nanoseconds: time))
      }
    }
    return backlogs
  }
}

extension MulticastCenter: CustomStringConvertible {
  /// The listener protocols, the topics and their listeners as a text: that of ``wiring``.
  public var description: String { wiring.description }
}

extension MulticastDelegate: CustomStringConvertible {
  /// The listener protocol and the number of its clients: `MulticastDelegate<UserProtocol>: 2 clients`.
  ///
  /// - Complexity: O(*n*).
  public var description: String {
    "MulticastDelegate<\(Listener.self)>: \(counted(count, "client"))"
  }
}

// MARK: - Snapshots

/// The contents of a list at one moment. Names depend on all types, so they come later.
private struct ListSnapshot {
  let subject: DeliverySubject
  private(set) var listeners: [(type: any Any.Type, group: Wiring.Group)] = []

  init(_ list: ClientList) {
    subject = list.subject
    list.findDead(in: list.boxes)
    for box in list.boxes where box.isRegistered {
      let observer = isTopic ? box.observer : nil
      if observer?.isActive == false { continue }
      let type = box.shownType
      let home = box.home?.place ?? .postingThread
      let group = Wiring.Group(
        type: "", id: observer?.id.map { String(describing: $0) }, home: home.description,
        site: observer?.site, count: 1)
      if let last = listeners.last, last.type == type, last.group.id == group.id,
        last.group.home == group.home, last.group.site == group.site
      {
        listeners[listeners.count - 1].group.count += 1
      } else {
        listeners.append((type, group))
      }
    }
  }

  var isTopic: Bool { if case .topic = subject { true } else { false } }

  var type: any Any.Type {
    switch subject {
    case .listener(let type), .topic(_, _, let type): type
    }
  }

  func named(by names: TypeNames) -> Wiring.List {
    Wiring.List(
      name: subject.description { names[$0] },
      listeners: listeners.map { type, group in
        Wiring.Group(
          type: names[type], id: group.id, home: group.home, site: group.site, count: group.count)
      })
  }
}

/// Unique names of types.
///
/// A name omits its module unless another type shares the name. The name of a private type then includes its
/// context, in a form that is valid for one run of the program.
private struct TypeNames {
  private var names: [ObjectIdentifier: String] = [:]

  init(_ types: [any Any.Type]) {
    let types = Dictionary(types.map { (ObjectIdentifier($0), $0) }) { first, _ in first }.values
    for (name, types) in Dictionary(grouping: types, by: { String(describing: $0) }) {
      for type in types {
        names[ObjectIdentifier(type)] = types.count == 1 ? name : String(reflecting: type)
      }
    }
  }

  subscript(type: any Any.Type) -> String {
    names[ObjectIdentifier(type)] ?? String(reflecting: type)
  }
}
