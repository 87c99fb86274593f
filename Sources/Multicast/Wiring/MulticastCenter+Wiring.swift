extension MulticastCenter {
  /// A snapshot of the listeners at this moment: every listener protocol with its clients, and every topic
  /// with its handlers.
  ///
  /// Of your code, it calls the `description` of ids, asks custom executors whether this thread runs there, and
  /// releases the handlers of deallocated owners. It reads one list after the other, so it may show a concurrent
  /// change in one list and not in the next. It retains each client without a home, or with its home here, for an
  /// instant, and deallocates it if its last owner releases it in that instant. It shows the others until their
  /// homes have noticed that they are deallocated, as ``MulticastDelegate/count`` counts them.
  ///
  /// - Complexity: O(*n*) in the number of clients and handlers, and the time to sort topics by name.
  public var wiring: Wiring {
    let lists = registries.all.flatMap(\.lists)
    let topics = lists.filter { $0 is TopicList }.map { Wiring.List($0) }
    return Wiring(
      protocols: lists.filter { !($0 is TopicList) }.map { Wiring.List($0) },
      topics: topics.filter { !$0.listeners.isEmpty }, waiting: backlogs(of: lists))
  }

  /// The homes in which letters wait, by name. The office contains them even if all their listeners have been removed. The
  /// mailboxes for the posting thread are those of the topics that keep their latest message.
  private func backlogs(of lists: [ClientList]) -> [Wiring.Backlog] {
    let latest = lists.compactMap { list in (list as? TopicList)?.latestStore?.mailbox }
    return (office.mailboxes + latest).compactMap { mailbox in
      // Only a number and a time leave the lock. A post that left it might be handled meanwhile, and then this thread would be
      // the last one to release its body or message.
      let (letters, nanoseconds) = office.lockAndRead(mailbox) { state in
        unsafe (state.letters.count + state.taken, state.letters.first?.post.trace?.age)
      }
      if letters == 0 { return nil }
      return Wiring.Backlog(
        home: mailbox.description, letters: letters,
        age: Wiring.Backlog.Age(nanoseconds: nanoseconds))
    }
    .sorted { ($0.home, $1.letters) < ($1.home, $0.letters) }
  }
}

extension MulticastCenter: CustomStringConvertible {
  /// The listener protocols, the topics and their listeners as text: that of ``wiring``.
  public var description: String { wiring.description }
}

extension MulticastDelegate: CustomStringConvertible {
  /// The listener protocol and the number of its clients: `MulticastDelegate<UserProtocol>: 2 clients`.
  ///
  /// - Complexity: O(*n*) for *n* clients.
  public var description: String {
    "MulticastDelegate<\(Listener.self)>: \(counted(count, "client"))"
  }
}

extension Wiring.List {
  /// Reads the contents of a list at this moment. Equal neighbors form a group.
  fileprivate init(_ list: ClientList) {
    list.removeDeallocated(in: list.boxes)
    var groups: [Wiring.Group] = []
    for box in list.boxes where box.isRegistered {
      let handlerBox = list is TopicList ? box.handlerBox : nil
      if handlerBox?.isActive() == false { continue }
      let stream = box.type is any StreamOwner.Type ? box.load() as? any StreamOwner : nil
      let messages = stream?.messages
      // With the count of the last group, so that `==` compares everything else.
      var group = Wiring.Group(
        type: "\(box.shownType)", id: handlerBox?.id.map { String(describing: $0) },
        home: (box.home ?? Mailbox.anyThread).description, site: handlerBox?.site,
        unread: messages?.unread, dropped: messages?.dropped, count: groups.last?.count ?? 1)
      if group == groups.last {
        groups[groups.count - 1].count += 1
      } else {
        group.count = 1
        groups.append(group)
      }
    }
    name = list.subject.description
    listeners = groups
  }
}
