// Calls that users try, and that do not exist. Each is declared as unavailable, so that the compiler says what to write instead.

extension MulticastCenter {
  /// Unavailable. Read `clients` of the protocol's delegate.
  @available(*, unavailable, message: "Write: center[P.self].clients")
  public func clients<P>(for listener: P.Type) -> [P] { fatalError() }

  /// Unavailable. Notify with many events through the protocol's delegate.
  @available(*, unavailable, message: "Write: center[P.self].notify(forEach: events) { … }")
  public func notify<P, Events: Collection>(
    _ listener: P.Type, forEach events: Events, _ body: (P, Events.Element) -> Void
  ) {}

  // With `Message`, the compiler would take a protocol's faulty closure for a message, and say so.
  /// Unavailable. A topic has only `post`.
  @available(*, unavailable, message: "A topic has only post: center.post(topic, message).")
  public func notify<Message>(_ topic: Topic<Message>, _ message: any Sendable) {}

  /// Unavailable. Pass the message to `post`, and the closure to `observe`.
  @available(*, unavailable, message: "A topic is posted with its message: post(topic, message).")
  public func post<Message>(_ topic: Topic<Message>, _ body: (Message) -> Void) {}

  /// Unavailable. An actor's method cannot be named without its actor, so pass a closure.
  @available(*, unavailable, message: "An actor takes a closure: { (me: isolated Store, it) in … }")
  @discardableResult
  public func observe<Message, Owner: Actor>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, newestOnly: Bool = false, _ method: (isolated Owner) -> (Message) -> Void
  ) -> TopicObservation { fatalError() }

  /// Unavailable. A handler that awaits enters the actor where it awaits.
  @available(
    *, unavailable,
    message: "A handler that awaits does not take its owner isolated: { me, it in await me.f(it) }"
  )
  @discardableResult
  public func observe<Message, Owner: Actor>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, newestOnly: Bool = false,
    _ handler: @escaping @Sendable (isolated Owner, Message) async -> Void
  ) -> TopicObservation { fatalError() }

  /// Unavailable. A handler that awaits is a closure.
  @available(
    *, unavailable, message: "A handler that awaits is a closure: { me, it in await me.f(it) }"
  )
  @discardableResult
  public func observe<Message, Owner: AnyObject>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, newestOnly: Bool = false, _ method: (Owner) -> (Message) async -> Void
  ) -> TopicObservation { fatalError() }

  /// Unavailable. Name a method with its class, or let the closure take its owner.
  @available(
    *, unavailable,
    message: "Name the method with its class, Screen.show, or take the owner: { me, it in … }"
  )
  @discardableResult
  public func observe<Message, Owner: AnyObject>(
    _ topic: Topic<Message>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, newestOnly: Bool = false, _ handler: (Message) -> Void
  ) -> TopicObservation { fatalError() }

  /// Unavailable. A handler of a topic without messages is a closure that takes its owner.
  @available(
    *, unavailable, message: "A handler of a Topic<Void> is a closure: { me, _ in me.logout() }"
  )
  @discardableResult
  public func observe<Owner: AnyObject>(
    _ topic: Topic<Void>, owner: Owner, id: (any Hashable & Sendable)? = nil,
    once: Bool = false, newestOnly: Bool = false, _ method: (Owner) -> () -> Void
  ) -> TopicObservation { fatalError() }
}
