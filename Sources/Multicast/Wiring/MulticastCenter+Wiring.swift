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
    let topics = lists.filter { $0 is TopicList }.map { Wiring.List($0) }
    return Wiring(
      protocols: lists.filter { !($0 is TopicList) }.map { Wiring.List($0) },
      topics: topics.filter { !$0.listeners.isEmpty }, waiting: backlogs(of: lists))
  }

  /// The homes of lists in which letters wait.
  private func backlogs(of lists: [ClientList]) -> [Wiring.Backlog] {
    var seen: Set<ObjectIdentifier> = []
    var backlogs: [Wiring.Backlog] = []
    for list in lists {
      for home in list.roster.homes.compactMap(\.home)
      where seen.insert(ObjectIdentifier(home)).inserted {
        let (letters, taken) = office.read(home.mailbox) { ($0.letters.all, $0.taken) }
        let posts = letters.map(\.post)
        if posts.count + taken == 0 { continue }
        backlogs.append(
          Wiring.Backlog(
            home: home.description, letters: posts.count + taken,
            nanoseconds: unsafe posts.first?.trace?.age))
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

extension Wiring.List {
  /// The contents of a list at this moment. Neighbors that are alike are a group.
  fileprivate init(_ list: ClientList) {
    list.findDead(in: list.boxes)
    var groups: [Wiring.Group] = []
    for box in list.boxes where box.isRegistered {
      let handlerBox = list is TopicList ? box.handlerBox : nil
      if handlerBox?.isActive() == false { continue }
      var group = Wiring.Group(
        type: "\(box.shownType)", id: handlerBox?.id.map { String(describing: $0) },
        home: (box.home ?? .postingThread).description, site: handlerBox?.site,
        count: groups.last?.count ?? 1)
      if group == groups.last {
        groups[groups.count - 1].count += 1
      } else {
        group.count = 1
        groups.append(group)
      }
    }
    (name, listeners) = (list.subject.description, groups)
  }
}
