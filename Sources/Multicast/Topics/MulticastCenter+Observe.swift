import Dispatch

extension MulticastCenter {
  /// Observes a topic with a closure that runs where it is written.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.observe(.userLogin, owner: self) { owner, login in owner.badge += 1 }
  /// ```
  ///
  /// A closure that is written on the main actor, or in another actor whose state it uses, runs in
  /// that actor. Any other closure runs on the thread that posts. For an owner that is an actor,
  /// let the closure take it isolated, `(owner: isolated Store, message) in`: a closure that
  /// captures its own actor keeps it alive.
  ///
  /// The handler lives with its owner, which is held weakly and passed in. What the handler
  /// captures, it keeps alive. It is released when the observation ends, and otherwise with the
  /// next operation on the topic after its owner has ended. On a topic of more than 32 observers,
  /// it is the next post, or as more are added.
  ///
  /// An owner has one handler for each topic and id. Without an id, the place in the source where
  /// the handler is written is its id. To observe again replaces the handler, in its place in the
  /// order: what waits for the old one is handled by the new one.
  ///
  /// A topic made with `keepsLatest: true` calls the handler with its last message first, if it has
  /// one: before this returns if the handler's home is here, and otherwise a little later.
  ///
  /// May be called from any thread. In the owner's `deinit`, nothing is registered.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The object that the observation lives with.
  ///   - id: Tells several handlers of one owner for one topic apart. It is compared with a lock
  ///     held, so that its `==` must not use the center.
  ///   - once: Whether the observation ends with its first message. However many threads post at
  ///     once, the handler gets exactly one.
  ///   - fileID: The file of the call site. Leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - handler: Is called with the owner and each message.
  /// - Returns: A token to cancel with. It may be ignored.
  /// - Complexity: Amortised O(*k*) for *k* handlers that the owner has for the topic.
  @discardableResult
  @inlinable
  public func observe<Message, Owner: AnyObject & Sendable>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    // There is no public way to say that a `@Sendable` closure belongs to the actor it is written
    // in.
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (Owner, Message) -> Void
  ) -> TopicObservation {
    observe(
      topic, owner: owner, id: id, once: once,
      site: CallSite(fileID: fileID, line: line, column: column), in: handler.isolation,
      calling: ErasedMessage.erase(IsolatedFunction2(handler).callable))
  }

  /// Observes a topic with a closure that runs in its owner, which is an actor.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.observe(.userLogin, owner: store) { (store: isolated Store, login) in
  ///   store.logins.append(login)
  /// }
  /// ```
  ///
  /// The owner is held weakly: a closure that uses the owner it is passed makes no cycle.
  /// Everything else is as with a closure that runs where it is written.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The actor that the observation lives with, and that the closure runs in.
  ///   - id: Tells several handlers of one owner for one topic apart.
  ///   - once: Whether the observation ends with its first message.
  ///   - fileID: The file of the call site. Leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - handler: Is called with the owner and each message.
  /// - Returns: A token to cancel with. It may be ignored.
  /// - Complexity: Amortised O(*k*) for *k* handlers that the owner has for the topic.
  @_disfavoredOverload
  @discardableResult
  @inlinable
  public func observe<Message, Owner: Actor>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ handler: @escaping @Sendable (isolated Owner, Message) -> Void
  ) -> TopicObservation {
    // Disfavored, because the compiler would choose this method, the more special one, for a closure that does
    // not take its owner isolated, too. There is no public way to say which one comes first.
    observe(
      topic, owner: owner, id: id, once: once,
      site: CallSite(fileID: fileID, line: line, column: column), in: owner,
      calling: ErasedMessage.erase(ActorFunction(handler).callable))
  }

  /// Observes a topic with a closure that awaits.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.observe(.userLogin, owner: store) { store, login in await store.add(login) }
  /// ```
  ///
  /// Messages are handled in a task, one after the other, in the order of the posts: the next one
  /// when the handler has returned. Different handlers run side by side. The handler runs in the
  /// actor that it is written in, if it is. Everything else is as with a closure that does not
  /// await.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The object that the observation lives with. It is kept alive while the handler
  ///     runs.
  ///   - id: Tells several handlers of one owner for one topic apart.
  ///   - once: Whether the observation ends with its first message.
  ///   - fileID: The file of the call site. Leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - handler: Is called and awaited with the owner and each message.
  /// - Returns: A token to cancel with. It may be ignored.
  /// - Complexity: Amortised O(*k*) for *k* handlers that the owner has for the topic.
  @discardableResult
  public func observe<Message, Owner: AnyObject & Sendable>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (Owner, Message) async -> Void
  ) -> TopicObservation {
    let call: TopicHandler.AwaitedCall = { owner, message in
      guard let message = message as? Message else { return }
      await handler(unsafe unsafeDowncast(owner, to: Owner.self), message)
    }
    let isolation = handler.isolation.map { TypeIdentity(type(of: $0)) }
    return observe(
      topic, owner: owner, id: id, once: once,
      site: CallSite(fileID: fileID, line: line, column: column), .awaited(call, in: isolation),
      in: nil)
  }

  /// Observes a topic with a closure that runs on a dispatch queue.
  ///
  /// Messages are handled one after the other, in the order of the posts, on a concurrent queue
  /// too. The main queue is the main actor's home. Everything else is as with a closure without a
  /// queue.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The object that the observation lives with.
  ///   - id: Tells several handlers of one owner for one topic apart.
  ///   - once: Whether the observation ends with its first message.
  ///   - queue: The queue. A post that is made on it calls the handler at once, unless it is a
  ///     global queue, or a concurrent one on which another handler is running.
  ///   - fileID: The file of the call site. Leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - handler: Is called with the owner and each message.
  /// - Returns: A token to cancel with. It may be ignored.
  /// - Complexity: Amortised O(*k*) for *k* handlers that the owner has for the topic.
  @discardableResult
  @inlinable
  public func observe<Message, Owner: AnyObject & Sendable>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, on queue: DispatchQueue,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ handler: @escaping @Sendable (Owner, Message) -> Void
  ) -> TopicObservation {
    observe(
      topic, owner: owner, id: id, once: once,
      site: CallSite(fileID: fileID, line: line, column: column), on: queue,
      calling: ErasedMessage.erase(handler))
  }

  @usableFromInline
  func observe<Message>(
    _ topic: Topic<Message>, owner: AnyObject & Sendable, id: (any Hashable & Sendable)?,
    once: Bool, site: CallSite, in isolation: (any Actor)?,
    calling call: @escaping ErasedMessage.Handler
  ) -> TopicObservation {
    observe(
      topic, owner: owner, id: id, once: once, site: site, .called(call),
      in: isolation.map { office.mailbox(of: $0) })
  }

  @usableFromInline
  func observe<Message>(
    _ topic: Topic<Message>, owner: AnyObject & Sendable, id: (any Hashable & Sendable)?,
    once: Bool, site: CallSite, on queue: DispatchQueue,
    calling call: @escaping ErasedMessage.Handler
  ) -> TopicObservation {
    observe(
      topic, owner: owner, id: id, once: once, site: site, .called(call),
      in: office.mailbox(of: queue))
  }

  private func observe<Message>(
    _ topic: Topic<Message>, owner: AnyObject & Sendable, id: (any Hashable & Sendable)?,
    once: Bool, site: CallSite, _ handler: TopicHandler, in mailbox: Mailbox?
  ) -> TopicObservation {
    let id = id.map(TopicObserver.ID.value) ?? .site(site)
    let topics = topics(of: Message.self, first: topic.key)
    while true {
      let list = topics.findOrMake(topic.key)
      let observation = list.observe(owner: owner, id: id, once: once, handler, in: mailbox)
      if let observation { return observation }
      topics.forget(list)
    }
  }

  /// Removes all handlers that an owner has for a topic.
  ///
  /// Messages that wait for them are given up. May be called from any thread.
  ///
  /// - Parameters:
  ///   - topic: The topic. Nobody need have observed it.
  ///   - owner: The owner.
  /// - Returns: How many handlers it had.
  /// - Complexity: O(*k*) for *k* handlers that the owner has for the topic.
  @discardableResult
  public func removeObservers<Message>(of topic: Topic<Message>, owner: AnyObject) -> Int {
    list(of: topic)?.removeClient(owner) ?? 0
  }

  /// Removes all handlers of a topic.
  ///
  /// Messages that wait for them are given up. May be called from any thread.
  ///
  /// - Parameter topic: The topic. Nobody need have observed it.
  /// - Complexity: O(*n*).
  public func removeObservers<Message>(of topic: Topic<Message>) {
    list(of: topic)?.removeAll()
  }
}
