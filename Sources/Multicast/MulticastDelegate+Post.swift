// MARK: - Calls

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
  /// When this returns, everybody has been called who has no home, or whose home is where this is called. What
  /// waited there came first. The others are called a little later. In a client that `post` is calling, this
  /// returns at once, and what it posts follows in every home.
  ///
  /// What one thread or task posts arrives in every home in that order, across protocols and topics.
  ///
  /// Clients of a `@MainActor` protocol are called with `postOnMain`, and clients that are awaited with
  /// `postAwaiting`. A body that names an actor, as in `{ @Storage in $0.put(1) }`, runs there for every
  /// client, and a debug build stops if one lives elsewhere.
  ///
  /// - Parameters:
  ///   - isolation: The actor that this is called in.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives each client that is registered now, and still is at its turn. Kept until all calls
  ///     are done.
  /// - Returns: The number of clients that were called or will be, if they live. 0 if the call was refused,
  ///   because one call has set off more than 1,000 recurring ones: see <doc:Loops>.
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
    } onHeap: {
      { box, _, _ in Self.call(box, function) }
    }
  }

  /// Calls every client in its home, in order, and returns after all calls.
  ///
  /// It does not wait for what clients post in turn. It waits until every home comes to the calls, also if the
  /// clients are removed meanwhile, who are not called then. Cancellation does not end the wait.
  ///
  /// - Parameters:
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives each client that is registered now, and still is at its turn.
  /// - Returns: The number of clients that were to be called.
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
        to: clientList, from: site, isolation: #isolation.map { ObjectIdentifier($0) },
        named: actor.map { office.mailbox(of: $0) }),
      subject: .listener(Listener.self),
      call: { box, list in
        Self.checkHome(of: box, in: list, named: actor, from: site)
        return Self.call(box, function)
      },
      make: { posting, origin in
        Self.makePost(posting, origin, named: actor) { box, _, _ in Self.call(box, function) }
      }) ?? 0
  }

  @inlinable
  static func call(_ box: WeakBox, _ body: (Listener) -> Void) -> CallOutcome {
    box.withClient(as: Listener.self, body) == nil ? .dead : .called
  }

  /// In debug builds, stops the program if a body names another actor than the client's home, and tells of a
  /// client without a home that is called on another thread than it was added on.
  @usableFromInline
  static func checkHome(
    of box: WeakBox, in list: ClientList, named actor: (any Actor)?, from site: CallSite
  ) {
    #if DEBUG
      if let actor { return box.checkHome(as: Listener.self, named: actor, from: site) }
      if let client = box.load() {
        box.checkThread(of: client, as: Listener.self, in: list, from: site)
      }
    #endif
  }

  /// Posts a body. Returns the number of clients that were called or will be.
  ///
  /// - Parameters:
  ///   - call: Calls the client in a box.
  ///   - onHeap: Makes a copy of `call` that outlives the method. Written where the listener's type is known, so
  ///     it is specialized.
  @usableFromInline
  func post(
    from site: CallSite, isolation: (any Actor)?, actor: (any Actor)?,
    call: (WeakBox) -> CallOutcome, onHeap: () -> Post.Call
  ) -> Int {
    if clientList.isEmpty { return 0 }
    return office.post(
      Posting(
        to: clientList, from: site, isolation: isolation.map { ObjectIdentifier($0) },
        named: actor.map { office.mailbox(of: $0) }),
      subject: .listener(Listener.self),
      call: { box, list in
        Self.checkHome(of: box, in: list, named: actor, from: site)
        return call(box)
      },
      make: { posting, origin in
        Self.makePost(posting, origin, named: actor, call: onHeap())
      }) ?? 0
  }

  /// Makes a post whose clients are checked in debug builds: see `checkHome`.
  static func makePost(
    _ posting: borrowing Posting, _ origin: Post.Origin, named actor: (any Actor)?,
    call: @escaping Post.Call
  ) -> Post {
    #if DEBUG
      return Post(posting, origin) { box, post, addressee in
        checkHome(of: box, in: post.list, named: actor, from: post.site)
        return call(box, post, addressee)
      }
    #else
      return Post(posting, origin, call: call)
    #endif
  }
}
