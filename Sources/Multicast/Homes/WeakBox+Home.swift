#if DEBUG
  extension WeakBox {
    /// Stops the program if a client is notified outside its home.
    ///
    /// The compiler cannot see this mistake, because the client was added in one isolation and is notified in
    /// another. The test is where the program runs. So a helper that notifies inside the actor passes without
    /// saying so.
    @usableFromInline
    func checkHome(
      of client: @autoclosure () -> Any, as listener: Any.Type, in list: ClientList,
      from site: CallSite?
    ) {
      guard hasHome else {
        if let site { checkThread(of: client(), as: listener, in: list, from: site) }
        return
      }
      guard let home = residents?.home.place, let place = home.placeElsewhere else { return }
      let type = type(of: client())
      fatalError(
        """
        Multicast: a client of type \(type) was added for \(listener) \(place) and is \
        \(site.map { "notified outside of it, at \($0)" } ?? "read outside of it, from `clients`"). Post \
        instead: a post calls each client at home. If \(type) may be called on any thread, add it with \
        isolation: nil, or make \(listener) Sendable.
        """, file: site?.file ?? #fileID, line: site.map { UInt($0.line) } ?? #line)
    }

    /// Tells once of a client without a home that was added on the main thread and is called on another one.
    func checkThread(
      of client: @autoclosure () -> Any, as listener: Any.Type, in list: ClientList,
      from site: CallSite
    ) {
      guard !hasHome, !list.homeless.isEmpty, !Place.mainActor.isCurrent(from: nil),
        let added = list.homeless.take(number)
      else { return }
      let type = type(of: client())
      StandardError.print(
        """
        Multicast: a client of type \(type) was added for \(listener) on the main thread, at \(added), without a \
        home, and is called on another thread, from \(site). Add it in its actor or with on: a queue, and post to \
        call it there. If it may be called on any thread, add it with isolation: nil, or make \(listener) Sendable.
        """)
    }

    /// Stops the program if a post's body names another actor than the client's home.
    func checkHome(as listener: Any.Type, named actor: any Actor, from site: CallSite) {
      guard let home = residents?.home.place, let client = load() else { return }
      if home.isIn(actor) { return }
      let type: Any.Type = Swift.type(of: client)
      fatalError(
        """
        Multicast: the body of a post to \(listener), at \(site), runs in \(actor), but a client of type \
        \(type) was added \(home.place). Leave the actor out of the body: a post calls each client at home.
        """, file: site.file, line: UInt(site.line))
    }
  }

  extension Place {
    fileprivate func isIn(_ actor: any Actor) -> Bool {
      switch self {
      case .mainActor: actor === MainActor.shared
      case .actor(let reference): reference.actor === actor
      case .queue, .task, .postingThread: false
      }
    }

    fileprivate var place: String {
      switch self {
      case .mainActor: "inside the actor \(MainActor.shared)"
      case .actor(let reference):
        reference.actor.map { "inside the actor \($0)" } ?? "inside an actor"
      case .queue(let queue): "on the queue \(queue.queue.label)"
      case .task: "in a task"
      case .postingThread: "on no thread in particular"
      }
    }

    /// The home as text, if this thread is known to run elsewhere.
    fileprivate var placeElsewhere: String? {
      switch self {
      case .mainActor:
        !MarkedQueue.main.isCurrent && MainActor.shared.isCurrent == false ? place : nil
      case .actor(let reference): reference.actor?.isCurrent == false ? place : nil
      case .queue(let queue): queue.isKnown && !queue.isCurrent ? place : nil
      case .task, .postingThread: nil
      }
    }
  }
#endif
