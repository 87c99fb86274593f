import Dispatch

extension MulticastCenter {
  /// Observes a topic with a closure that runs where it is written.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.observe(.userLogin, owner: self) { me, login in me.badge += 1 }
  /// ```
  ///
  /// A closure written on the main actor runs there. Any other closure runs on the posting thread, unless it uses the state of
  /// an actor that it is written in, which it then keeps alive for ever. In an actor, take the owner isolated:
  /// `{ (me: isolated Store, login) in me.add(login) }`.
  ///
  /// Use the parameter, never `self`: a closure that captures its owner keeps it alive for ever. A method cannot:
  /// `observe(.userLogin, owner: self, Screen.show)`. Capture the center weakly, too, or take it from the owner.
  ///
  /// In language mode 5, the compiler does not check that the owner is `Sendable`. A handler in a class without an actor is
  /// called on every thread that posts. Make the class `@MainActor`, or say `on:`.
  ///
  /// The observation ends with its owner, which is held weakly and passed to the handler. The handler is then
  /// released in its home, by the next `post` or as observers are added; without a home, or in it, by the next
  /// operation on a topic of up to 32 observers. The call that replaces a handler releases it.
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
  ///   - newestOnly: Whether messages of a topic that keeps its latest are skipped while newer ones wait, as for progress that
  ///     comes faster than it can be shown. The last message is never skipped.
  ///   - fileID: The call site's file, for reports and ``wiring``. A wrapper passes its caller's on.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - handler: Receives the owner and each message.
  /// - Returns: A token that cancels the observation. It may be ignored.
  /// - Complexity: Amortized O(1).
  @discardableResult @inlinable
  public func observe<Message, Owner: AnyObject & Sendable>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, newestOnly: Bool = false,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    // No public attribute makes a `@Sendable` closure inherit its actor.
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (Owner, Message) -> Void
  ) -> TopicObservation {
    let call = Handler.erase(IsolatedHandler(handler).callable)
    let site = CallSite(fileID: fileID, line: line, column: column)
    return observe(topic, owner, id, once, newestOnly, site, call, in: handler.isolation)
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
  ///   - newestOnly: Whether messages of a topic that keeps its latest are skipped while newer ones wait.
  ///   - fileID: The call site's file, for reports and ``wiring``. A wrapper passes its caller's on.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - handler: Receives the owner and each message.
  /// - Returns: A token that cancels the observation. It may be ignored.
  /// - Complexity: Amortized O(1).
  @_disfavoredOverload @discardableResult @inlinable
  public func observe<Message, Owner: Actor>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, newestOnly: Bool = false,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ handler: @escaping @Sendable (isolated Owner, Message) -> Void
  ) -> TopicObservation {
    // Disfavored, because the compiler would otherwise prefer this more special method even for a closure
    // that does not isolate its owner. There is no public way to order them.
    let call = Handler.erase(ActorHandler(handler).callable)
    let site = CallSite(fileID: fileID, line: line, column: column)
    return observe(topic, owner, id, once, newestOnly, site, call, in: owner)
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
  /// is kept alive in that actor while the handler runs. Use the parameter, never `self`: a closure that captures
  /// its owner keeps it alive for ever.
  ///
  /// Each call adds a handler. With an `id`, it replaces the handler that the owner has under that `id` for the
  /// topic. In the same actor, the new handler receives what waits for the old one. If the topic keeps its latest
  /// message, the handler receives that first.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The object with which the observation ends.
  ///   - id: Names the handler, so that a later call can replace it.
  ///   - once: Whether the observation ends with its first message.
  ///   - newestOnly: Whether messages of a topic that keeps its latest are skipped while newer ones wait.
  ///   - fileID: The call site's file, for reports and ``wiring``. A wrapper passes its caller's on.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - handler: Receives the owner and each message.
  /// - Returns: A token that cancels the observation. It may be ignored.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func observe<Message, Owner: AnyObject & Sendable>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, newestOnly: Bool = false,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (Owner, Message) async -> Void
  ) -> TopicObservation {
    let call = Handler.Call.awaited { owner, post in
      await handler(
        unsafe unsafeDowncast(owner, to: Owner.self),
        unsafe unsafeDowncast(post, to: TopicPost<Message>.self).message)
    }
    let site = CallSite(fileID: fileID, line: line, column: column)
    return observe(topic, owner, id, once, newestOnly, site, call, in: handler.isolation)
  }

  /// Observes a topic with a closure that runs on a dispatch queue.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.observe(.userLogin, owner: store, on: .main) { _, login in print(login.id) }
  /// ```
  ///
  /// A method is not named here, but called: `{ me, login in me.show(login) }`. On the main actor, leave `on: .main` out: only then
  /// may the closure use the actor's state.
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
  ///   - newestOnly: Whether messages of a topic that keeps its latest are skipped while newer ones wait.
  ///   - queue: The queue on which the handler runs.
  ///   - fileID: The call site's file, for reports and ``wiring``. A wrapper passes its caller's on.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - handler: Receives the owner and each message.
  /// - Returns: A token that cancels the observation. It may be ignored.
  /// - Complexity: Amortized O(1).
  @discardableResult @inlinable
  public func observe<Message, Owner: AnyObject & Sendable>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, newestOnly: Bool = false, on queue: DispatchQueue,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ handler: @escaping @Sendable (Owner, Message) -> Void
  ) -> TopicObservation {
    let site = CallSite(fileID: fileID, line: line, column: column)
    let call = Handler.erase(handler)
    return observe(topic, owner, id, once, newestOnly, site, call, on: queue)
  }

  @usableFromInline
  func observe<Message>(
    _ topic: Topic<Message>, _ owner: AnyObject & Sendable, _ id: (any Hashable & Sendable)?,
    _ once: Bool, _ newestOnly: Bool, _ site: CallSite, _ call: Handler.Call,
    in isolation: (any Actor)? = nil, on queue: DispatchQueue? = nil
  ) -> TopicObservation {
    let home =
      switch call {
      case .awaited: office.makeMailbox(ofTaskIn: isolation)
      default: isolation.map { office.mailbox(of: $0) } ?? queue.map { office.mailbox(of: $0) }
      }
    let handler = Handler(call, once: once, newestOnly: newestOnly, at: site)
    let anchor = anchor(of: topic, for: owner, from: site)
    #if DEBUG
      anchor.list.tellOfMistakes(
        in: handler, of: owner, hasID: id != nil, at: home, from: site)
    #endif
    return anchor.observe(owner, id, handler, at: home)
  }

  /// Removes the handlers of a topic, or those that an owner has for it. What was posted before no longer calls them.
  ///
  /// Releases the handlers on this thread, and what only they capture with them.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The owner of the handlers; nil for all handlers of the topic.
  /// - Returns: The number of handlers. One with another home counts until that has noticed its owner's end.
  /// - Complexity: Amortized O(1) for each of these handlers.
  @discardableResult
  public func removeObservers<Message>(of topic: Topic<Message>, owner: AnyObject? = nil) -> Int {
    existingList(of: topic)?.removeAll(of: owner) ?? 0
  }
}
