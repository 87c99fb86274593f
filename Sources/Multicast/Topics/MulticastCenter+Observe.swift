import Dispatch

extension MulticastCenter {
  /// Observes a topic with a closure that runs where it was written.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.observe(.userLogin, owner: self) { owner, login in owner.badge += 1 }
  /// ```
  ///
  /// A handler written on the main actor, or in another actor whose state it uses, runs in that actor:
  /// within the same turn if the post is made there, or else a little later, in the order of the posts.
  /// Any other handler is called synchronously, on the thread that posts.
  ///
  /// The handler lives with its owner, which is held weakly and passed in, so that `self` need not be
  /// captured. What it does capture, it keeps alive. A handler runs in an actor that is not a global one
  /// because it captures this actor; an owner that is an actor is better awaited.
  ///
  /// A handler is released with the next operation on the topic after its owner has ended or its
  /// observation was cancelled; on a topic of more than 32 observers, with the next post, or as more are
  /// added. Nobody else is called meanwhile, and no lock is held while a handler runs.
  ///
  /// There is one handler for each owner, topic and id. To observe again replaces it, in its place in the
  /// order; messages that wait for the old handler still reach it, unless the owner is removed.
  ///
  /// May be called from any thread. In the owner's `deinit`, nothing is registered.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The object that the observation lives with.
  ///   - id: Tells several handlers of one owner for one topic apart. It is compared with a lock held, so
  ///     that its `==` must not use the center.
  ///   - once: Whether the observation ends with its first message. However many threads post at once,
  ///     the handler gets exactly one.
  ///   - handler: Is called with the owner and each message.
  /// - Returns: A token to cancel with. It may be ignored.
  /// - Complexity: Amortised O(1).
  @discardableResult
  @inlinable
  public func observe<Message, Owner: AnyObject & Sendable>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false,
    // There is no public way to say that a `@Sendable` closure belongs to the actor it is written in.
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (Owner, Message) -> Void
  ) -> TopicObservation {
    observe(
      topic, owner: owner, id: id, once: once, with: TopicHandler(isolatedAsWritten: handler))
  }

  /// Observes a topic with a closure that awaits.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.observe(.userLogin, owner: store) { store, login in await store.add(login) }
  /// ```
  ///
  /// Messages are handled in a task, one after the other, in the order of the posts: the next one when the
  /// handler has returned. The handler runs in the actor that it was written in, if it was. Everything
  /// else is as with a closure that does not await.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The object that the observation lives with. It is kept alive while the handler runs.
  ///   - id: Tells several handlers of one owner for one topic apart.
  ///   - once: Whether the observation ends with its first message.
  ///   - handler: Is called and awaited with the owner and each message.
  /// - Returns: A token to cancel with. It may be ignored.
  /// - Complexity: Amortised O(1).
  @discardableResult
  public func observe<Message, Owner: AnyObject & Sendable>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false,
    @_inheritActorContext
    _ handler: @escaping @isolated(any) @Sendable (Owner, Message) async -> Void
  ) -> TopicObservation {
    let observer = LateObserver<Message>(
      owner: owner, id: id, once: once,
      handler: .awaited(in: handler.isolation) { owner, message in
        await handler(unsafe unsafeDowncast(owner, to: Owner.self), message)
      })
    return place(observer, of: owner, in: topic)
  }

  /// Observes a topic with a closure that runs on a dispatch queue.
  ///
  /// Messages are handled one after the other, in the order of the posts, on a concurrent queue too.
  /// Everything else is as with a closure without a queue.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - owner: The object that the observation lives with.
  ///   - id: Tells several handlers of one owner for one topic apart.
  ///   - once: Whether the observation ends with its first message.
  ///   - queue: The queue. A post on it does not call the handler at once, either.
  ///   - handler: Is called with the owner and each message.
  /// - Returns: A token to cancel with. It may be ignored.
  /// - Complexity: Amortised O(1).
  @discardableResult
  @inlinable
  public func observe<Message, Owner: AnyObject & Sendable>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, on queue: DispatchQueue,
    _ handler: @escaping @Sendable (Owner, Message) -> Void
  ) -> TopicObservation {
    observe(topic, owner: owner, id: id, once: once, with: TopicHandler(on: queue, handler))
  }

  @usableFromInline
  func observe<Message>(
    _ topic: Topic<Message>, owner: AnyObject & Sendable, id: (any Hashable & Sendable)?,
    once: Bool, with handler: TopicHandler
  ) -> TopicObservation {
    let observer: TopicObserver =
      switch handler {
      case .direct(let call): TopicObserver(owner: owner, id: id, once: once, call: call)
      case .isolated(let actor, let call):
        LateObserver<Message>(owner: owner, id: id, once: once, handler: .isolated(actor, call))
      case .queued(let queue, let call):
        LateObserver<Message>(owner: owner, id: id, once: once, handler: .queued(queue, call))
      }
    return place(observer, of: owner, in: topic)
  }

  private func place<Message>(
    _ observer: TopicObserver, of owner: AnyObject & Sendable, in topic: Topic<Message>
  ) -> TopicObservation {
    let list = topics(of: Message.self).place(observer, of: owner, in: topic)
    return TopicObservation(observer, in: list, owner: owner)
  }

  /// Removes all handlers that an owner has for a topic.
  ///
  /// Messages that wait for them are given up. May be called from any thread.
  ///
  /// - Parameters:
  ///   - topic: The topic. Nobody need have observed it.
  ///   - owner: The owner.
  /// - Returns: How many handlers it had.
  /// - Complexity: O(*n*) in the number of the topic's observers.
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
