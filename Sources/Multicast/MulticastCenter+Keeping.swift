extension MulticastCenter {
  /// Calls every client of a listener protocol in its home, in order, and keeps the call for clients that are
  /// added later.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// center.post(UserProtocol.self, keeping: "user") { $0.userLogin(19000) }
  /// ```
  ///
  /// A client that is added later is called with it first, in its home, before anything that is posted
  /// afterwards. None is missing, none comes twice, and none is out of order, whatever other threads post
  /// meanwhile. The last post under an id replaces the one before it. With several ids, a client is called in
  /// the order of their last posts.
  ///
  /// `add` returns before such a client is called in its home, so a client may add itself in its `init`. A client
  /// without a home is called before `add` returns, on the thread that adds it.
  ///
  /// What `body` captures lives as long as it is kept: until it is replaced, or removed with
  /// ``removeKept(_:for:)``, ``removeAll(for:)`` or ``removeAll()``.
  ///
  /// Otherwise, this is like `post`. Once a post to a protocol was kept, all posts call its clients without a home
  /// on one thread at a time. A post that finds another thread calling there leaves its calls to that thread.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - id: Distinguishes the posts that are kept. Compared by `==`, with no lock held.
  ///   - isolation: The actor that this is called in.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives each client that is registered now, and each one that is added later.
  /// - Returns: The number of clients that were called or will be, without later ones. 0 if the call was refused,
  ///   because one call has set off more than 1,000 recurring ones: see <doc:Loops>. It is not kept then.
  /// - Complexity: O(*n* + *k*) for *k* ids.
  @discardableResult
  @inlinable
  public func post<Listener>(
    _ listener: Listener.Type, keeping id: some Hashable & Sendable,
    isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) -> Void
  ) -> Int {
    self[listener].post(
      keeping: id, isolation: isolation, fileID: fileID, line: line, column: column, body)
  }

  /// Calls every client of a listener protocol on the main actor, in order, and keeps the call for clients that
  /// are added later.
  ///
  /// <!-- example: in Screens -->
  /// ```swift
  /// center.postOnMain(ScreenProtocol.self, keeping: "progress") { $0.downloadDidProgress(to: 50) }
  /// ```
  ///
  /// Use it from any thread for clients of a `@MainActor` protocol. A client that is added later is called with it
  /// first, on the main actor, after `add` has returned. Everything else is as with
  /// ``post(_:keeping:isolation:fileID:line:column:_:)``.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - id: Distinguishes the posts that are kept.
  ///   - isolation: The actor that this is called in.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives each client that is registered now, and each one that is added later.
  /// - Returns: The number of clients that were called or will be, without later ones. 0 if the call was refused.
  /// - Complexity: O(*n* + *k*) for *k* ids.
  @discardableResult
  @inlinable
  public func postOnMain<Listener>(
    _ listener: Listener.Type, keeping id: some Hashable & Sendable,
    isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @MainActor @Sendable (Listener) -> Void
  ) -> Int {
    self[listener].post(
      keeping: id, isolation: isolation, fileID: fileID, line: line, column: column, body)
  }

  /// Removes the post to a listener protocol that is kept under an id. Later clients are not called with it.
  ///
  /// Clients that it has reached, or waits for, are called nevertheless.
  ///
  /// - Parameters:
  ///   - id: The id that the post was made with.
  ///   - listener: The protocol.
  /// - Returns: Whether one was kept.
  /// - Complexity: O(*k*) for *k* ids.
  @discardableResult
  public func removeKept<Listener>(
    _ id: some Hashable & Sendable, for listener: Listener.Type
  ) -> Bool {
    withDelegate(for: listener) { $0.removeKept(id) } ?? false
  }
}
