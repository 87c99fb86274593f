extension MulticastDelegate {
  /// Calls every client in its home, in order.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// delegates.post { $0.userLogin(19000) }
  /// ```
  ///
  /// A client added in an actor is called there, and a client added on a queue on that queue. Other clients
  /// are called on this thread.
  ///
  /// When this returns, all clients that have no home, or whose home is where this is called, have been called. What
  /// waited there came first. The others are called a little later. In a client that `post` is calling, this
  /// returns at once, and what it posts follows in every home.
  ///
  /// What one thread or task posts arrives in every home in that order, across protocols and topics.
  ///
  /// Clients of a `@MainActor` protocol are called with `postOnMain`. Clients of another global actor's protocol, and
  /// clients that are awaited, are called with `awaiting:`.
  ///
  /// - Parameters:
  ///   - isolation: The actor that this is called in.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives each client that is registered now, and still is at its turn. Kept until all calls
  ///     are done.
  /// - Returns: The number of clients, and a way to wait for the calls. It may be ignored.
  /// - Complexity: O(*n*).
  @discardableResult @inlinable
  public func post(
    isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @Sendable (Listener) -> Void
  ) -> Posted {
    post(.homes, from: CallSite(fileID: fileID, line: line, column: column), isolation, body)
  }

  /// Calls every client on the main actor, in order.
  ///
  /// <!-- example: in Screens -->
  /// ```swift
  /// screens.postOnMain { $0.downloadDidProgress(to: 50) }
  /// ```
  ///
  /// Use it from any thread for clients that live on the main actor, such as those of a `@MainActor`
  /// protocol. Called on the main actor, it returns after all calls. Elsewhere, the calls follow a little
  /// later. So they do in a client that `post` is calling. They are in one order with those of `post`, across
  /// protocols and topics.
  ///
  /// Clients without a home are called on the main actor, too. A debug build stops if a client lives in
  /// another actor or on a queue.
  ///
  /// - Parameters:
  ///   - isolation: The actor that this is called in.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives each client that is registered now, and still is at its turn.
  /// - Returns: The number of clients, and a way to wait for the calls. It may be ignored.
  /// - Complexity: O(*n*).
  @discardableResult @inlinable
  public func postOnMain(
    isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @MainActor @Sendable (Listener) -> Void
  ) -> Posted {
    post(
      .mainActor, from: CallSite(fileID: fileID, line: line, column: column), isolation,
      MainActorFunction(body).callable)
  }

  @inlinable @inline(__always)
  func post(
    _ destination: Post.Destination, from site: CallSite, _ isolation: (any Actor)?,
    _ body: @escaping @Sendable (Listener) -> Void
  ) -> Posted {
    if clientList.isEmpty { return Posted() }
    return office.post(ClientPost(to: clientList, from: site, destination, body), from: isolation)
  }
}

/// A post to the clients of a listener protocol.
///
/// Unchecked like its superclass. It adds a constant, which is Sendable.
@usableFromInline
final class ClientPost<Listener>: Post, @unchecked Sendable {
  @usableFromInline let body: @Sendable (Listener) -> Void

  @inlinable
  init(
    to list: ClientList, from site: CallSite, _ destination: Destination,
    _ body: @escaping @Sendable (Listener) -> Void
  ) {
    self.body = body
    super.init(to: list, from: site, destination) { box, post in
      #if DEBUG
        box.checkHome(in: post, as: Listener.self)
      #endif
      let post = unsafe unsafeDowncast(post, to: ClientPost<Listener>.self)
      return MulticastDelegate<Listener>.own(box).withClient(post.body) == nil ? .dead : .called
    }
  }
}

// MARK: - Awaiting

extension MulticastDelegate where Listener: Sendable {
  /// Calls every client in a task of its own.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// delegates.post(awaiting: { await $0.store(19000) })
  /// ```
  ///
  /// The calls of one client do not overlap, and keep their order. Different clients are called side by side.
  /// The calls are not in order with those of a `post` that does not await. A body that names an actor runs there. A
  /// client that was given an actor as its home is held there, any other one in the actor of the body. The protocol must be
  /// `Sendable`.
  ///
  /// - Parameters:
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives and awaits each client that is registered now, and still is at its turn.
  /// - Returns: The number of clients, and a way to wait for the calls. It may be ignored.
  /// - Complexity: O(*n*). Starts a task for each idle client.
  @discardableResult
  public func post(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    awaiting body: @escaping @isolated(any) @Sendable (Listener) async -> Void
  ) -> Posted {
    if clientList.isEmpty { return Posted() }
    let site = CallSite(fileID: fileID, line: line, column: column)
    return office.post(AwaitingPost(to: clientList, from: site, body), from: nil)
  }
}

/// A post that calls and awaits the clients of a listener protocol.
///
/// Unchecked like its superclass. It adds a constant, which is Sendable.
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

  override nonisolated(nonsending) func callAwaiting(_ box: WeakBox) async -> CallOutcome {
    guard let object = box.load() else { return .dead }
    await body(MulticastDelegate<Listener>.own(box).value)
    extendLifetime(object)
    return .called
  }
}
