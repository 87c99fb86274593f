#if DEBUG
  extension WeakBox {
    /// Stops the program if a client is notified outside its home.
    ///
    /// The compiler cannot see this mistake, because the client was added in one isolation and is notified in
    /// another. The test is where the program runs. So a helper that notifies inside the actor passes without
    /// saying so.
    @usableFromInline
    func checkHome(of client: @autoclosure () -> Any, as listener: Any.Type, from site: CallSite?) {
      guard let home = group?.mailbox.home, let place = home.placeElsewhere else { return }
      let type = type(of: client())
      fatalError(
        """
        Multicast: a client of type \(type) was added for \(listener) \(place) and is \
        \(site.map { "notified outside of it, at \($0)" } ?? "read outside of it, from `clients`"). Post \
        instead: a post calls each client at home. If \(type) may be called on any thread, add it with \
        isolation: nil, or make \(listener) Sendable.
        """, file: site?.file ?? #fileID, line: site.map { UInt($0.line) } ?? #line)
    }

    /// Stops the program if a post's body names another actor than the client's home.
    func checkHome(as listener: Any.Type, named actor: any Actor, from site: CallSite) {
      guard let home = group?.mailbox.home, let client = load() else { return }
      if case .actor(let reference) = home, reference.actor === actor { return }
      let type: Any.Type = Swift.type(of: client)
      fatalError(
        """
        Multicast: the body of a post to \(listener), at \(site), runs in \(actor), but a client of type \
        \(type) was added \(home.place). Leave the actor out of the body: a post calls each client at home.
        """, file: site.file, line: UInt(site.line))
    }
  }

  extension Home {
    fileprivate var place: String {
      switch self {
      case .actor(let reference):
        reference.actor.map { "inside the actor \($0)" } ?? "inside an actor"
      case .queue(let queue): "on the queue \(queue.queue.label)"
      case .lane: "in a task"
      }
    }

    /// The home as text, if this thread is known to run elsewhere.
    fileprivate var placeElsewhere: String? {
      switch self {
      case .actor(let reference): reference.actor?.isCurrent == false ? place : nil
      case .queue(let queue): queue.isKnown && !queue.isCurrent ? place : nil
      case .lane: nil
      }
    }
  }
#endif
