import Dispatch

extension MulticastCenter {
  /// Observes a topic with a closure that runs where it is written.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.observe(.userLogin, owner: self) { owner, login in owner.badge += 1 }
  /// ```
  ///
  /// A closure written on the main actor, or in another actor whose state it uses, runs in that actor. Any
  /// other closure runs on the posting thread.
  ///
  /// The observation ends with its owner, which is held weakly and passed to the handler. The handler is
  /// released by the next operation on the topic; with more than 32 observers, by the next post or by later
  /// calls of this method.
  ///
  /// An owner has one handler for each topic and id. Observing again replaces the handler, which keeps its
  /// place in the order and receives waiting messages. A topic made with `keepsLatest: true` first calls the
  /// handler with its latest message: before this returns if the handler's home is here, otherwise a little
  /// later.
  ///
  /// May be called from any thread. In the owner's `deinit`, it does nothing.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The object with which the observation ends.
  ///   - id: Distinguishes handlers of one owner for one topic. By default, the call site does. Its `==` runs
  ///     with a lock held and must not use the center.
  ///   - once: Whether the observation ends with its first message. The handler receives exactly one, however
  ///     many threads post.
  ///   - fileID: The call site's file. A wrapper passes its caller's on.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - handler: Receives the owner and each message.
  /// - Returns: A token that cancels the observation. It may be ignored.
  /// - Complexity: Amortized O(*k*) for *k* handlers of the owner for the topic.
  @discardableResult
  @inlinable
  public func observe<Message, Owner: AnyObject & Sendable>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    // No public attribute makes a `@Sendable` closure inherit its actor.
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (Owner, Message) -> Void
  ) -> TopicObservation {
    observe(
      topic, owner: owner, id: id, once: once,
      site: CallSite(fileID: fileID, line: line, column: column), in: handler.isolation,
      calling: ErasedMessage.erase(IsolatedFunction2(handler).callable))
  }

  /// Observes a topic with a closure that runs in its owner, an actor.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.observe(.userLogin, owner: store) { (store: isolated Store, login) in
  ///   store.logins.append(login)
  /// }
  /// ```
  ///
  /// The owner is held weakly. A closure that captures its own actor would keep it alive. Otherwise
  /// the same as for a closure that runs where it is written.
  ///
  /// - Returns: A token that cancels the observation. It may be ignored.
  /// - Complexity: Amortized O(*k*) for *k* handlers of the owner for the topic.
  @_disfavoredOverload
  @discardableResult
  @inlinable
  public func observe<Message, Owner: Actor>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ handler: @escaping @Sendable (isolated Owner, Message) -> Void
  ) -> TopicObservation {
    // Disfavored, because the compiler would otherwise prefer this more special method even for a closure
    // that does not isolate its owner. There is no public way to order them.
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
  /// A task calls the handler with one message after the other, in the order of the posts, in the
  /// actor in which the handler is written. Different handlers run side by side. The owner is kept
  /// alive while the handler runs. Otherwise the same as for a closure that does not await.
  ///
  /// - Returns: A token that cancels the observation. It may be ignored.
  /// - Complexity: Amortized O(*k*) for *k* handlers of the owner for the topic.
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
  /// Calls do not overlap, on a concurrent queue either. The main queue is the main actor. A post
  /// made on the queue calls the handler at once, unless the queue is global, or concurrent and
  /// running another handler. Otherwise the same as for a closure without a queue.
  ///
  /// - Returns: A token that cancels the observation. It may be ignored.
  /// - Complexity: Amortized O(*k*) for *k* handlers of the owner for the topic.
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

  /// Removes all handlers that an owner has for a topic. They receive no waiting messages.
  ///
  /// - Returns: The number of handlers.
  /// - Complexity: O(*k*) for *k* handlers of the owner for the topic.
  @discardableResult
  public func removeObservers<Message>(of topic: Topic<Message>, owner: AnyObject) -> Int {
    list(of: topic)?.removeClient(owner) ?? 0
  }

  /// Removes all handlers of a topic. They receive no waiting messages.
  ///
  /// - Complexity: O(*n*).
  public func removeObservers<Message>(of topic: Topic<Message>) {
    list(of: topic)?.removeAll()
  }
}
