extension MulticastDelegate {
  /// Calls every client in its home, in order.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// delegates.post { $0.userLogin(19000) }
  /// ```
  ///
  /// `post` calls a client in the actor in which it was added, or on its queue. It calls other clients on
  /// this thread.
  ///
  /// When `post` returns, it has called all clients without a home, and those whose home is the actor or queue
  /// that you post from, after everything that was already waiting there, unless that queue is global or another
  /// thread is calling there. It calls the others after it returns. If `post` is calling the client that posts,
  /// this returns immediately, and what it posts follows in every home.
  ///
  /// What one thread or task posts through this delegate arrives in every home in that order. A delegate of a center
  /// has one order with the center's other protocols and topics.
  ///
  /// For clients of a `@MainActor` protocol, use `postOnMain`. For clients of another global actor's
  /// protocol, and to await clients, use `awaiting:`.
  ///
  /// - Parameters:
  ///   - isolation: The actor in which you call this.
  ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Receives each client that is registered now and still is at its turn. It is kept until all
  ///     calls are done and the result is released.
  /// - Returns: The number of clients, and a way to wait until they have been called. You can ignore it.
  /// - Complexity: O(*n*) for *n* clients.
  @discardableResult @inlinable
  public func post(
    isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @Sendable (Listener) -> Void
  ) -> Posted {
    if clientList.isSilent { return Posted() }
    let site = CallSite(fileID: fileID, line: line, column: column)
    return office.post(ClientPost(to: clientList, from: site, .homes, body), in: isolation)
  }

  /// Calls every client on the main actor, in order.
  ///
  /// <!-- example: in Screens -->
  /// ```swift
  /// screens.postOnMain { $0.downloadDidProgress(to: 50) }
  /// ```
  ///
  /// Use it from any thread for clients on the main actor, such as those of a `@MainActor` protocol. On the
  /// main actor, it returns after all calls. Elsewhere, or if `post` is calling the client that posts, the
  /// calls are made after it returns. For clients at home on the main actor, they have one order with those of
  /// `post`, across protocols and topics.
  ///
  /// It also calls clients without a home on the main actor. A debug build stops if the home of a client that is
  /// not an actor is another actor or a queue.
  ///
  /// - Parameters:
  ///   - isolation: The actor in which you call this.
  ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Receives each client that is registered now and still is at its turn. It is kept until all
  ///     calls are done and the result is released.
  /// - Returns: The number of clients, and a way to wait until they have been called. You can ignore it.
  /// - Complexity: O(*n*) for *n* clients.
  @discardableResult @inlinable
  public func postOnMain(
    isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @MainActor @Sendable (Listener) -> Void
  ) -> Posted {
    if clientList.isSilent { return Posted() }
    let site = CallSite(fileID: fileID, line: line, column: column)
    let call = MainActorFunction(body).callable
    return office.post(ClientPost(to: clientList, from: site, .mainActor, call), in: isolation)
  }
}

/// A post to the clients of a listener protocol.
///
/// `@unchecked`, because the superclass is. The one property that it adds is constant and `Sendable`.
@usableFromInline
final class ClientPost<Listener>: Post, @unchecked Sendable {
  @usableFromInline let body: @Sendable (Listener) -> Void

  @inlinable
  init(
    to list: ClientList, from site: CallSite, _ destination: Destination,
    _ body: @escaping @Sendable (Listener) -> Void
  ) {
    self.body = body
    super.init(to: list, from: site, destination, ClientPost<Listener>.callClient)
  }

  /// Calls the client in a box with a post.
  @inlinable
  static func callClient(in box: WeakBox, with post: Post) -> CallOutcome {
    #if DEBUG
      box.checkHome(in: post, as: Listener.self)
    #endif
    let post = unsafe unsafeDowncast(post, to: ClientPost<Listener>.self)
    return MulticastDelegate<Listener>.clientBox(box).withClient(post.body) == nil
      ? .gone : .called
  }
}

// MARK: - Awaiting

extension MulticastDelegate where Listener: Sendable {
  /// Calls every client in a task, which awaits the call.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// delegates.post(awaiting: { await $0.store(19000) })
  /// ```
  ///
  /// The protocol must be `Sendable`. The calls of one client through this delegate do not overlap, and keep their order. Different
  /// clients are called side by side. The calls have no common order with those of a `post` that does not
  /// await.
  ///
  /// A body that names an actor runs there. The client is retained and released in the actor that you gave it
  /// as its home, or else in the actor of `body`.
  ///
  /// - Parameters:
  ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Receives and awaits each client that is registered now and still is at its turn.
  /// - Returns: The number of clients, and a way to wait until they have been called. You can ignore it.
  /// - Complexity: O(*n*) for *n* clients. Starts a task for each idle client.
  @discardableResult
  public func post(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    awaiting body: @escaping @isolated(any) @Sendable (Listener) async -> Void
  ) -> Posted {
    if clientList.isSilent { return Posted() }
    let site = CallSite(fileID: fileID, line: line, column: column)
    return office.post(AwaitingPost(to: clientList, from: site, body), in: nil)
  }
}

/// A post that calls and awaits the clients of a listener protocol, each in a task.
///
/// `@unchecked`, because the superclass is. The one property that it adds is constant and `Sendable`.
private final class AwaitingPost<Listener: Sendable>: Post, @unchecked Sendable {
  private let body: @isolated(any) @Sendable (Listener) async -> Void

  init(
    to list: ClientList, from site: CallSite,
    _ body: @escaping @isolated(any) @Sendable (Listener) async -> Void
  ) {
    self.body = body
    super.init(to: list, from: site, .tasks)
  }

  override var isolation: (any Actor)? { body.isolation }

  override nonisolated(nonsending) func callAwaiting(_ box: WeakBox) async -> Bool {
    await MulticastDelegate<Listener>.clientBox(box).withClient(
      awaiting: { client in await call(client, in: box, isolation: body.isolation) }) ?? false
  }

  /// Calls a client in the actor of `body`, unless it was removed while that actor was busy. Returns whether it was called.
  private func call(
    _ client: Listener, in box: WeakBox, isolation: isolated (any Actor)?
  ) async -> Bool {
    if !box.isRegistered { return false }
    await body(client)
    return true
  }
}
