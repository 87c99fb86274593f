#if canImport(Dispatch)
  import Dispatch
#endif

extension MulticastCenter {
  /// Observes a topic with a closure. A closure that you write in a function of a global actor, such as the main
  /// actor, is called there.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.observe(.userLogin, owner: self) { me, login in
  ///   me.badge += 1
  /// }
  /// ```
  ///
  /// Any other closure runs on the posting thread, even in the initial value of a property, where you can write
  /// `{ @MainActor me, login in … }`. In an actor, take the owner isolated, and the closure runs in
  /// the actor: `{ (me: isolated Store, login) in me.add(login) }`. A closure that uses the state of the
  /// surrounding actor, but does not take its owner isolated, runs in that actor, too. It keeps the actor alive
  /// forever.
  ///
  /// Do not use `self` in the closure: a closure that captures its owner keeps it alive forever. Use the
  /// parameter, or a method, which cannot capture anything: `observe(.userLogin, owner: self, Screen.show)`.
  /// Capture the center weakly, too, or take it from the owner.
  ///
  /// The registration ends with its owner, which is held weakly and passed to the handler. The handler is then
  /// released when its topic is used again: with the next `post`, or, if the topic has up to 32 handlers, when
  /// the topic is observed, handlers are removed from it, or the wiring is read in the handler's home. The call that
  /// replaces a handler releases the old one.
  ///
  /// Each call adds a handler. With an `id`, it replaces the handler that the owner has under that `id` for
  /// the topic. In the same home, the new handler takes the position of the old one and receives the messages
  /// that wait for it. In another home, it begins as a new handler does. If an owner observes a topic
  /// again from the same line without an `id`, a debug build prints a warning, once for each line.
  ///
  /// If the topic keeps its latest message, a new handler receives that first: before this returns, unless the
  /// handler's home is elsewhere, as in the `init` of an actor, or a call is running there. Therefore observe
  /// last in `init`.
  ///
  /// You may call this on any thread. In the owner's `deinit`, it registers nothing; on Apple's platforms, it
  /// stops the program there if the owner is an instance of an Objective-C class. In language mode 5, the
  /// compiler does not check that the owner is `Sendable`: a handler in a class without an actor is called on
  /// every thread that posts. Make the class `@MainActor`, or pass `on:`.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The object with which the registration ends.
  ///   - id: A name of the handler, so that a later call can replace it. Ids are compared as `AnyHashable`, for which
  ///     `1` equals `1.0`. `==` may use the center.
  ///   - once: Whether the registration ends with the first message, which may be the latest one that the
  ///     topic keeps. The handler receives exactly one, however many threads post.
  ///   - newestOnly: Whether the handler skips a message if its topic already keeps a newer one, as for
  ///     progress that arrives faster than it can be shown. The last message is never skipped. It has no
  ///     effect if the topic does not keep its latest message, and a debug build prints a warning.
  ///   - fileID: The file of the call site, for reports and ``wiring``. In a wrapper, pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - handler: Receives the owner and each message.
  /// - Returns: A token that can cancel the registration. You can ignore it, because the registration ends
  ///   with its owner.
  /// - Complexity: Amortized O(1). O(*n*) for *n* handlers if a delivery that has begun since a handler was last added
  ///   still uses their list, as the latest message of a topic does.
  @discardableResult @inlinable
  public func observe<Message, Owner: AnyObject & Sendable>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, newestOnly: Bool = false,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    // No public attribute makes a `@Sendable` closure inherit its actor.
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (Owner, Message) -> Void
  ) -> TopicObservation {
    let body = Handler.erasingTypes(of: IsolatedHandler(handler).callable)
    let site = CallSite(fileID: fileID, line: line, column: column)
    return observe(
      topic, owner, id, once: once, newestOnly: newestOnly, at: site, body, in: handler.isolation)
  }

  /// Observes a topic with a closure, called in its owner, an actor.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.observe(.userLogin, owner: store) {
  ///   (me: isolated Store, login) in
  ///   me.logins.append(login)
  /// }
  /// ```
  ///
  /// Do not use `self` in the closure: a closure that captures its owner keeps it alive forever. Use the
  /// parameter. The owner is held weakly, and the registration ends with it.
  ///
  /// Each call adds a handler. With an `id`, it replaces the handler that the owner has under that `id` for
  /// the topic. If the topic keeps its latest message, the handler receives that first: before this returns, if
  /// you call it in a method of the actor, and later if you call it in the actor's `init`.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The actor in which the handler is called.
  ///   - id: A name of the handler, so that a later call can replace it.
  ///   - once: Whether the registration ends with the first message.
  ///   - newestOnly: Whether the handler skips a message if its topic already keeps a newer one. It has no
  ///     effect if the topic does not keep its latest message.
  ///   - fileID: The file of the call site, for reports and ``wiring``. In a wrapper, pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - handler: Receives the owner and each message.
  /// - Returns: A token that can cancel the registration. You can ignore it, because the registration ends
  ///   with its owner.
  /// - Complexity: Amortized O(1). O(*n*) for *n* handlers if a delivery that has begun since a handler was last added
  ///   still uses their list, as the latest message of a topic does.
  @_disfavoredOverload @discardableResult @inlinable
  public func observe<Message, Owner: Actor>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, newestOnly: Bool = false,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ handler: @escaping @Sendable (isolated Owner, Message) -> Void
  ) -> TopicObservation {
    // Disfavored, because the compiler would otherwise prefer this more special method even for a closure
    // that does not isolate its owner. There is no public way to order them.
    let body = Handler.erasingTypes(of: ActorHandler(handler).callable)
    let site = CallSite(fileID: fileID, line: line, column: column)
    return observe(topic, owner, id, once: once, newestOnly: newestOnly, at: site, body, in: owner)
  }

  /// Observes a topic with a closure that awaits, called in a task.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.observe(.userLogin, owner: store) { me, login in
  ///   await me.add(login)
  /// }
  /// ```
  ///
  /// The task calls the handler with one message after the other, in the order of the posts, in the global actor
  /// in whose function you write the closure, such as the main actor. A closure that you write in another actor runs
  /// outside it, and enters it where it awaits, as in `await me.add(login)`. One that uses that actor's state without
  /// awaiting runs there, and keeps the actor alive forever. Different handlers run side by side.
  /// The owner is held weakly. While the handler runs, it is kept alive where the handler runs. Do not use `self`
  /// in the closure: a closure that captures its owner keeps it alive forever. Use the parameter.
  ///
  /// Each call adds a handler. With an `id`, it replaces the handler that the owner has under that `id` for
  /// the topic. In the same actor, the new handler receives the messages that wait for the old one. If the
  /// topic keeps its latest message, the handler receives that first.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The object with which the registration ends.
  ///   - id: A name of the handler, so that a later call can replace it.
  ///   - once: Whether the registration ends with the first message.
  ///   - newestOnly: Whether the handler skips a message if its topic already keeps a newer one. It has no
  ///     effect if the topic does not keep its latest message.
  ///   - fileID: The file of the call site, for reports and ``wiring``. In a wrapper, pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - handler: Receives the owner and each message.
  /// - Returns: A token that can cancel the registration. You can ignore it, because the registration ends
  ///   with its owner.
  /// - Complexity: Amortized O(1). O(*n*) for *n* handlers if a delivery that has begun since a handler was last added
  ///   still uses their list, as the latest message of a topic does.
  @discardableResult
  public func observe<Message, Owner: AnyObject & Sendable>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, newestOnly: Bool = false,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (Owner, Message) async -> Void
  ) -> TopicObservation {
    let body = Handler.Body.awaited { owner, post in
      await handler(
        unsafe unsafeDowncast(owner, to: Owner.self),
        unsafe unsafeDowncast(post, to: TopicPost<Message>.self).message)
    }
    let site = CallSite(fileID: fileID, line: line, column: column)
    return observe(
      topic, owner, id, once: once, newestOnly: newestOnly, at: site, body, in: handler.isolation)
  }

  /// Observes a topic with a closure, called on a dispatch queue.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// let queue = DispatchQueue(label: "store")
  /// center.observe(.userLogin, owner: store, on: queue) {
  ///   _, login in print(login.id)
  /// }
  /// ```
  ///
  /// You cannot name a method here, but call it: `{ me, login in me.show(login) }`. On the main actor, leave
  /// `on: .main` out: only then may the closure use the actor's state.
  ///
  /// Calls do not overlap each other, even on a concurrent queue, but your own blocks on that queue run
  /// beside them. The main queue is the same home as the main actor. A post made on the queue calls the
  /// handler before `post` returns, unless the queue is global, or is running another handler.
  ///
  /// The registration ends with its owner, which is held weakly and passed to the handler. Do not use `self`
  /// in the closure: a closure that captures its owner keeps it alive forever. Use the parameter.
  ///
  /// Each call adds a handler. With an `id`, it replaces the handler that the owner has under that `id` for
  /// the topic. If the topic keeps its latest message, the handler receives that first.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The object with which the registration ends.
  ///   - id: A name of the handler, so that a later call can replace it.
  ///   - once: Whether the registration ends with the first message.
  ///   - newestOnly: Whether the handler skips a message if its topic already keeps a newer one. It has no
  ///     effect if the topic does not keep its latest message.
  ///   - queue: The queue on which the handler is called.
  ///   - fileID: The file of the call site, for reports and ``wiring``. In a wrapper, pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - handler: Receives the owner and each message.
  /// - Returns: A token that can cancel the registration. You can ignore it, because the registration ends
  ///   with its owner.
  /// - Complexity: Amortized O(1). O(*n*) for *n* handlers if a delivery that has begun since a handler was last added
  ///   still uses their list, as the latest message of a topic does.
  @discardableResult @inlinable
  public func observe<Message, Owner: AnyObject & Sendable>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, newestOnly: Bool = false, on queue: DispatchQueue,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ handler: @escaping @Sendable (Owner, Message) -> Void
  ) -> TopicObservation {
    let site = CallSite(fileID: fileID, line: line, column: column)
    let body = Handler.erasingTypes(of: handler)
    return observe(topic, owner, id, once: once, newestOnly: newestOnly, at: site, body, on: queue)
  }

  /// Removes the handlers that an owner has for a topic.
  ///
  /// Posts that were made before no longer call them. The handlers are released on this thread, with
  /// everything that only they capture.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The owner of the handlers.
  /// - Returns: The number of handlers removed; 0 if the owner is being deinitialized.
  /// - Complexity: Amortized O(1) for each of these handlers.
  @discardableResult
  public func removeHandlers<Message>(of topic: Topic<Message>, owner: AnyObject) -> Int {
    existingList(of: topic)?.removeAll(of: owner) ?? 0
  }

  /// Removes all handlers of a topic, as ``removeHandlers(of:owner:)`` does.
  ///
  /// - Parameter topic: The topic.
  /// - Returns: The number of handlers removed. A handler with another home counts until that home has
  ///   noticed that its owner is deallocated.
  /// - Complexity: Amortized O(1) for each of these handlers.
  @discardableResult
  public func removeHandlers<Message>(of topic: Topic<Message>) -> Int {
    existingList(of: topic)?.removeAll() ?? 0
  }
}
