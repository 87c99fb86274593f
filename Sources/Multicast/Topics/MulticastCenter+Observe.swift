#if canImport(Dispatch) && !os(WASI)
  import Dispatch
#endif

extension MulticastCenter {
  /// Observes a topic with a closure that runs where it is written.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.observe(.userLogin, owner: self) { me, login in me.badge += 1 }
  /// ```
  ///
  /// A closure written on the main actor, or in another actor whose state it uses, runs in that actor. Any
  /// other closure runs on the posting thread. In an actor, take the owner isolated:
  /// `{ (me: isolated Store, login) in me.add(login) }`.
  ///
  /// Use the parameter, never `self`: a closure that captures its owner keeps it alive for ever.
  ///
  /// The observation ends with its owner, which is held weakly and passed to the handler. The handler is
  /// released by the next operation on the topic; with more than 32 observers, by the next `post` or by later
  /// calls of this method.
  ///
  /// Each call adds a handler. With an `id`, it replaces the handler that the owner has under that `id` for the
  /// topic. In the same home, the new handler takes the place of the old one and receives what waits for it. In
  /// another home, it receives what is posted from now on.
  ///
  /// If the topic keeps its latest message, the handler receives that first: before this returns if the
  /// handler's home is here and no call is running there, otherwise a little later.
  ///
  /// May be called from any thread. In the owner's `deinit`, it does nothing.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The object with which the observation ends.
  ///   - id: Names the handler, so that a later call can replace it. Its `==` may use the center.
  ///   - once: Whether the observation ends with its first message. The handler receives exactly one, however
  ///     many threads post.
  ///   - fileID: The call site's file, for reports and ``wiring``. A wrapper passes its caller's on.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - handler: Receives the owner and each message.
  /// - Returns: A token that cancels the observation. It may be ignored.
  /// - Complexity: Amortized O(1); with an `id`, O(*k*) for *k* handlers of the owner for the topic.
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
  /// center.observe(.userLogin, owner: store) { (me: isolated Store, login) in
  ///   me.logins.append(login)
  /// }
  /// ```
  ///
  /// Use the parameter, never `self`: a closure that captures its own actor keeps it alive for ever. The owner
  /// is held weakly, and the observation ends with it.
  ///
  /// Each call adds a handler. With an `id`, it replaces the handler that the owner has under that `id` for the
  /// topic. If the topic keeps its latest message, the handler receives that first.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The actor in which the handler runs.
  ///   - id: Names the handler, so that a later call can replace it.
  ///   - once: Whether the observation ends with its first message.
  ///   - fileID: The call site's file, for reports and ``wiring``. A wrapper passes its caller's on.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - handler: Receives the owner and each message.
  /// - Returns: A token that cancels the observation. It may be ignored.
  /// - Complexity: Amortized O(1); with an `id`, O(*k*) for *k* handlers of the owner for the topic.
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
  /// center.observe(.userLogin, owner: store) { me, login in await me.add(login) }
  /// ```
  ///
  /// A task calls the handler with one message after the other, in the order in which they were posted, in the
  /// actor in which the handler is written. Different handlers run side by side. The owner is held weakly, and
  /// is kept alive while the handler runs. Use the parameter, never `self`: a closure that captures its owner
  /// keeps it alive for ever.
  ///
  /// Each call adds a handler. With an `id`, it replaces the handler that the owner has under that `id` for the
  /// topic. If the topic keeps its latest message, the handler receives that first.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The object with which the observation ends.
  ///   - id: Names the handler, so that a later call can replace it.
  ///   - once: Whether the observation ends with its first message.
  ///   - fileID: The call site's file, for reports and ``wiring``. A wrapper passes its caller's on.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - handler: Receives the owner and each message.
  /// - Returns: A token that cancels the observation. It may be ignored.
  /// - Complexity: Amortized O(1); with an `id`, O(*k*) for *k* handlers of the owner for the topic.
  @discardableResult
  public func observe<Message, Owner: AnyObject & Sendable>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (Owner, Message) async -> Void
  ) -> TopicObservation {
    let call: TopicHandler.AwaitingCall = { owner, message, isDue in
      await Self.call(
        handler, unsafe unsafeDowncast(owner, to: Owner.self), message, in: handler.isolation, isDue
      )
    }
    let actor = handler.isolation.map { TypeIdentity(type(of: $0)) }
    return observe(
      topic, owner: owner, id: id, once: once,
      site: CallSite(fileID: fileID, line: line, column: column), .awaited(call), in: actor, at: nil
    )
  }

  /// Calls an awaited handler in its actor, where a removal may have come first.
  private static func call<Message, Owner: AnyObject & Sendable>(
    _ handler: @isolated(any) @Sendable (Owner, Message) async -> Void, _ owner: Owner,
    _ message: any Sendable, in isolation: isolated (any Actor)?, _ isDue: () -> Bool
  ) async -> Bool {
    guard isDue() else { return false }
    if let message = message as? Message { await handler(owner, message) }
    return true
  }

  /// Observes a topic with a closure that runs on a dispatch queue.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.observe(.userLogin, owner: store, on: .main) { _, login in print(login.id) }
  /// ```
  ///
  /// Calls do not overlap, on a concurrent queue either. The main queue is the main actor. What is posted on the
  /// queue reaches the handler before `post` returns, unless the queue is global, or is running another handler.
  ///
  /// The observation ends with its owner, which is held weakly and passed to the handler. Use the parameter,
  /// never `self`: a closure that captures its owner keeps it alive for ever.
  ///
  /// Each call adds a handler. With an `id`, it replaces the handler that the owner has under that `id` for the
  /// topic. If the topic keeps its latest message, the handler receives that first.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The object with which the observation ends.
  ///   - id: Names the handler, so that a later call can replace it.
  ///   - once: Whether the observation ends with its first message.
  ///   - queue: The queue on which the handler runs.
  ///   - fileID: The call site's file, for reports and ``wiring``. A wrapper passes its caller's on.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - handler: Receives the owner and each message.
  /// - Returns: A token that cancels the observation. It may be ignored.
  /// - Complexity: Amortized O(1); with an `id`, O(*k*) for *k* handlers of the owner for the topic.
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
      topic, owner: owner, id: id, once: once, site: site, .called(call), in: nil,
      at: isolation.map { office.mailbox(of: $0) })
  }

  @usableFromInline
  func observe<Message>(
    _ topic: Topic<Message>, owner: AnyObject & Sendable, id: (any Hashable & Sendable)?,
    once: Bool, site: CallSite, on queue: DispatchQueue,
    calling call: @escaping ErasedMessage.Handler
  ) -> TopicObservation {
    observe(
      topic, owner: owner, id: id, once: once, site: site, .called(call), in: nil,
      at: office.mailbox(of: queue))
  }

  private func observe<Message>(
    _ topic: Topic<Message>, owner: AnyObject & Sendable, id: (any Hashable & Sendable)?,
    once: Bool, site: CallSite, _ handler: TopicHandler, in actor: TypeIdentity?, at home: Mailbox?
  ) -> TopicObservation {
    let topics = topics(of: Message.self, first: topic, from: site)
    while true {
      let list = topics.findOrMake(topic.name, keepsLatest: topic.keepsLatest, from: site)
      #if DEBUG
        list.check(keepsLatest: topic.keepsLatest, from: site)
      #endif
      let observation = list.observe(
        owner: owner, id: id, once: once, handler, in: actor, at: home)
      if let observation { return observation }
      topics.forget(list)
    }
  }

  /// Removes all handlers that an owner has for a topic. What was posted before no longer calls them.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The owner of the handlers.
  /// - Returns: The number of handlers.
  /// - Complexity: O(*k*) for *k* handlers of the owner for the topic.
  @discardableResult
  public func removeObservers<Message>(of topic: Topic<Message>, owner: AnyObject) -> Int {
    existingList(of: topic)?.removeClient(owner) ?? 0
  }

  /// Removes all handlers of a topic. What was posted before no longer calls them.
  ///
  /// - Returns: The number of handlers.
  /// - Complexity: O(*n*).
  @discardableResult
  public func removeObservers<Message>(of topic: Topic<Message>) -> Int {
    existingList(of: topic)?.removeAllHandlers() ?? 0
  }
}
