// MARK: - Calls

extension MulticastDelegate {
  /// Calls every client at home, in order.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// delegates.post { $0.userLogin(19000) }
  /// ```
  ///
  /// A client that was added in an actor is called in that actor. A client that was added on a
  /// queue is called on that queue. Any other client is called on this thread. Clients whose home
  /// is elsewhere are called a little later. Posts from one thread or task reach every home in
  /// their order, whatever protocols and topics they went to.
  ///
  /// A post that is made while a client is being called by a post follows that one: it reaches
  /// every home after it, and is never nested in it. If the post is not made in such a call, all
  /// clients without a home and all clients that live where it is made have been called when this
  /// returns, after what waited there.
  ///
  /// A body that names an actor, as in `{ @MainActor in $0.show(1) }`, is called there with every
  /// client: a main-actor protocol needs that. No client may then live in another home. A debug
  /// build checks it.
  ///
  /// The clients registered now are called, except those that are removed or deallocated before
  /// their turn. May be called from any thread, in a call and in a `deinit`.
  ///
  /// - Parameters:
  ///   - isolation: The actor that the caller runs in. Leave it to its default.
  ///   - fileID: The file of the call site. Leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Is called with each client, and kept until every client has been called.
  /// - Returns: The number of clients that were called or will be, if they live. 0 if the post was
  ///   refused because more than 1,000 recurring posts were set off by one.
  /// - Complexity: O(*n*).
  @discardableResult
  @inlinable
  public func post(
    isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) -> Void
  ) -> Int {
    let actor = body.isolation
    let function = IsolatedFunction(body).callable
    let site = CallSite(fileID: fileID, line: line, column: column)
    return post(from: site, isolation: isolation, actor: actor) { box in
      Self.call(box, function)
    } content: {
      ClosureContent(actor: actor, Listener.self, site) { box in Self.call(box, function) }
    }
  }

  /// Calls every client at home, in order, and returns when every client has been called.
  ///
  /// A client that is removed or deallocated before its turn is not waited for. A cancelled task
  /// goes on waiting. Everything else is as in ``post(isolation:fileID:line:column:_:)``.
  ///
  /// - Parameters:
  ///   - fileID: The file of the call site. Leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Is called with each client.
  /// - Returns: The number of clients that were called or were to be, if they lived.
  /// - Complexity: O(*n*).
  @discardableResult
  nonisolated(nonsending) public func postAndWait(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) -> Void
  ) async -> Int {
    let actor = body.isolation
    let function = IsolatedFunction(body).callable
    let site = CallSite(fileID: fileID, line: line, column: column)
    return await office.postAndWait(
      Posting(
        to: clientList, from: site, isolation: #isolation, actor: actor),
      subject: { .listener(Listener.self) },
      ClosureContent(actor: actor, Listener.self, site) { box in Self.call(box, function) })
  }

  @inlinable
  static func call(_ box: WeakBox, _ body: (Listener) -> Void) -> Bool {
    box.withClient(as: Listener.self, body) != nil
  }

  @usableFromInline
  func post(
    from site: CallSite, isolation: (any Actor)?, actor: (any Actor)?,
    call: (WeakBox) -> Bool, content: () -> ClosureContent
  ) -> Int {
    if clientList.isEmpty { return 0 }
    return office.post(
      Posting(to: clientList, from: site, isolation: isolation, actor: actor),
      subject: { .listener(Listener.self) },
      call: { box in
        #if DEBUG
          if let actor { box.checkHome(as: Listener.self, named: actor, from: site) }
        #endif
        return call(box) ? .called : .dead
      },
      make: { cause, recurrences, trace in
        PostOf(
          content(), list: clientList, site: site, parent: cause, recurrences: recurrences,
          trace: trace)
      })
  }
}

// MARK: - Awaited calls

extension MulticastDelegate where Listener: Sendable {
  /// Calls every client in a task of its own.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// delegates.post { await $0.store(19000) }
  /// ```
  ///
  /// The calls of one client follow each other, in the order of the posts: the next one begins when
  /// the one before has returned. Different clients are called side by side. A body that names an
  /// actor runs there, and so does a client that is an actor. What a client posts while it is
  /// called follows in every home. Everything else is as in
  /// ``post(isolation:fileID:line:column:_:)``.
  ///
  /// - Parameters:
  ///   - fileID: The file of the call site. Leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Is called and awaited with each client, and kept until every call has returned.
  /// - Returns: The number of clients that will be called, if they live.
  /// - Complexity: O(*n*). Starts a task for each client that has nothing to do.
  @discardableResult
  public func post(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) async -> Void
  ) -> Int {
    if clientList.isEmpty { return 0 }
    let site = CallSite(fileID: fileID, line: line, column: column)
    let content = AwaitedContent(body: body)
    return office.post(
      Posting(to: clientList, from: site, isolation: nil, isAwaited: true),
      subject: { .listener(Listener.self) },
      call: { box in content.call(box, of: clientList, on: .posting) },
      make: { cause, recurrences, trace in
        PostOf(
          content, list: clientList, site: site, parent: cause, recurrences: recurrences,
          trace: trace)
      })
  }

  /// Calls every client in a task of its own, and returns when every call has returned.
  ///
  /// A client that is removed or deallocated before its turn is not waited for. Nor is one that
  /// waits itself, directly or through others, for this post to return: each would wait for the
  /// other. A cancelled task goes on waiting. Everything else is as in
  /// ``post(fileID:line:column:_:)``.
  ///
  /// - Parameters:
  ///   - fileID: The file of the call site. Leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Is called and awaited with each client.
  /// - Returns: The number of clients that were to be called, if they lived.
  /// - Complexity: O(*n*).
  @discardableResult
  nonisolated(nonsending) public func postAndWait(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) async -> Void
  ) async -> Int {
    await office.postAndWait(
      Posting(
        to: clientList, from: CallSite(fileID: fileID, line: line, column: column),
        isolation: #isolation, isAwaited: true), subject: { .listener(Listener.self) },
      AwaitedContent(body: body))
  }
}

// MARK: - What is posted

/// A body that is called with clients.
@usableFromInline
struct ClosureContent: PostContent {
  let actor: (any Actor)?
  private let listener: Any.Type
  private let site: CallSite
  private let deliver: @Sendable (WeakBox) -> Bool

  /// - Parameter deliver: Calls the client in a box, and returns whether it is alive. It is written where the
  ///   listener's type is known, so that it is compiled for this type.
  @usableFromInline
  init(
    actor: (any Actor)?, _ listener: Any.Type, _ site: CallSite,
    deliver: @escaping @Sendable (WeakBox) -> Bool
  ) {
    self.actor = actor
    self.listener = listener
    self.site = site
    self.deliver = deliver
  }

  func call(_ box: WeakBox, of list: ClientList, on occasion: CallOccasion) -> CallOutcome {
    #if DEBUG
      if let actor { box.checkHome(as: listener, named: actor, from: site) }
    #endif
    return deliver(box) ? .called : .dead
  }
}

/// A body that is called and awaited with clients.
private struct AwaitedContent<Listener: Sendable>: PostContent {
  let body: @isolated(any) @Sendable (Listener) async -> Void

  var isAwaited: Bool { true }

  func call(_ box: WeakBox, of list: ClientList, on occasion: CallOccasion) -> CallOutcome {
    box.load() == nil ? .dead : .awaits(.client(box.identity))
  }

  func callAwaiting(_ registration: Registration, letter: UInt64, in list: ClientList) async {
    guard let client = list.client(of: registration, as: Listener.self) else { return }
    await body(client.listener)
    extendLifetime(client)
  }
}
