// Calls that people write and that do not exist. The compiler says what does.

extension MulticastCenter {
  // With `Message`, the compiler would take a protocol's faulty closure for a message, and say so.
  /// A topic is posted.
  @available(*, unavailable, message: "A topic has only post: center.post(topic, message).")
  @discardableResult
  public func notify<Message>(_ topic: Topic<Message>, _ message: any Sendable) -> Int {
    fatalError("unavailable")
  }

  /// A topic is posted with its message, and `observe` takes the closure.
  @available(
    *, unavailable, message: "A topic is posted with its message: center.post(topic, message)."
  )
  @discardableResult
  public func post<Message>(_ topic: Topic<Message>, _ body: (Message) -> Void) -> Int {
    fatalError("unavailable")
  }

  /// A topic is posted with its message, and `observe` takes the closure.
  @available(
    *, unavailable, message: "A topic is posted with its message: center.post(topic, message)."
  )
  @discardableResult
  public func post<Message, Result>(_ topic: Topic<Message>, _ body: () -> Result) -> Int {
    fatalError("unavailable")
  }

  /// A body that awaits is posted by a method of its own.
  @available(*, unavailable, message: "A body that awaits is posted with postAwaiting.")
  @discardableResult
  public func post<Listener>(_ listener: Listener.Type, _ body: (Listener) async -> Void) -> Int {
    fatalError("unavailable")
  }

  /// A body that awaits is posted by a method of its own.
  @available(*, unavailable, message: "A body that awaits is posted with postAwaitingAndWait.")
  @discardableResult
  public func postAndWait<Listener>(
    _ listener: Listener.Type, _ body: (Listener) async -> Void
  ) async -> Int {
    fatalError("unavailable")
  }
}

extension MulticastDelegate {
  /// A body that awaits is posted by a method of its own.
  @available(*, unavailable, message: "A body that awaits is posted with postAwaiting.")
  @discardableResult
  public func post(_ body: (Listener) async -> Void) -> Int {
    fatalError("unavailable")
  }

  /// A body that awaits is posted by a method of its own.
  @available(*, unavailable, message: "A body that awaits is posted with postAwaitingAndWait.")
  @discardableResult
  public func postAndWait(_ body: (Listener) async -> Void) async -> Int {
    fatalError("unavailable")
  }
}
