extension MulticastCenter {
  /// Calls every client of a listener protocol now, on this thread, in the order in which they were added.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// center.notify(UserProtocol.self) { $0.userLogin(19000) }
  /// ```
  ///
  /// The clients are those registered when the call begins, except those removed or deallocated before their
  /// turn. Call this in the home of all of them: a debug build stops if a client that is not an actor has another
  /// home. Use `post` then.
  ///
  /// A client may notify in turn. If it notifies from this same call site, directly or through other clients,
  /// that is a loop: the inner call calls no client, and is reported. Two properties that notify through one
  /// function share its call site, so if a client sets one while it is called for the other, no client is called
  /// for the second change. Post instead, or let the function take its callers' `fileID`, `line` and `column`:
  /// see <doc:Loops>.
  ///
  /// The first error that `body` throws ends the call and reaches you. The compiler infers `any Error` unless
  /// you write the type: `{ client throws(StoreError) in … }`.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Receives each client.
  /// - Returns: The number of clients called.
  /// - Complexity: O(*n*) for *n* clients, and a few instructions without clients. Allocates nothing,
  ///   unless it removes deallocated clients or is reported.
  @discardableResult @inlinable @inline(__always)
  public func notify<Listener, Failure: Error>(
    _ listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: (Listener) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    let site = CallSite(fileID: fileID, line: line, column: column)
    return try withDelegate(for: listener, from: site) { (delegate) throws(Failure) in
      try delegate.notify(fileID: fileID, line: line, column: column, body)
    } ?? 0
  }

  /// Asks every client of a listener protocol now, on this thread, and returns the answers.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// let answers = center.map(DocumentProtocol.self) {
  ///   $0.mayClose()
  /// }
  /// ```
  ///
  /// It calls the clients as `notify` does. The first error ends the call, and the answers are lost.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Returns a client's answer.
  /// - Returns: The answers, in the order of the clients. Empty if there are no clients, or if the call was a
  ///   loop.
  /// - Complexity: O(*n*) for *n* clients.
  @inlinable
  public func map<Listener, Answer, Failure: Error>(
    _ listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ transform: (Listener) throws(Failure) -> Answer
  ) throws(Failure) -> [Answer] {
    let site = CallSite(fileID: fileID, line: line, column: column)
    return try withDelegate(for: listener, from: site) { (delegate) throws(Failure) in
      try delegate.map(fileID: fileID, line: line, column: column, transform)
    } ?? []
  }

  /// Calls every client of a listener protocol and awaits each call, one after the other, in order.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// await center.notify(StoreProtocol.self) {
  ///   await $0.store(19000)
  /// }
  /// ```
  ///
  /// Use it for actors and asynchronous methods. The protocol must be `Sendable`, or its methods
  /// `nonisolated(nonsending)`.
  ///
  /// `body` runs in the caller's actor and task. A debug build stops if a client that is not an actor has
  /// another home: use `post` then. The first error ends the call. Cancellation does not, so let `body` throw.
  /// The center keeps a client alive until its call returns. A loop through the same task is refused and
  /// reported. A task that a client starts is not part of the call.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Receives and awaits each client.
  /// - Returns: The number of clients called.
  /// - Complexity: O(*n*) for *n* clients.
  @discardableResult @inlinable
  nonisolated(nonsending) public func notify<Listener, Failure: Error>(
    _ listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    awaiting body: nonisolated(nonsending) (Listener) async throws(Failure) -> Void
  ) async throws(Failure) -> Int {
    let site = CallSite(fileID: fileID, line: line, column: column)
    guard let delegate = withDelegate(for: listener, from: site, { $0 }) else { return 0 }
    return try await delegate.notify(
      fileID: fileID, line: line, column: column, awaiting: body)
  }

  /// Asks every client of a listener protocol and awaits each answer, one after the other, in order.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// let free = await center.map(
  ///   StoreProtocol.self,
  ///   awaiting: { await $0.freeBytes() })
  /// ```
  ///
  /// Use it for answers of actors and asynchronous methods. It calls the clients as `notify` with `awaiting:`
  /// does. The first error ends the call, and the answers are lost. <doc:CommonTasks> shows how to ask all
  /// clients at the same time.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Awaits and returns a client's answer.
  /// - Returns: The answers, in the order of the clients. Empty if there are no clients, or if the call was a
  ///   loop.
  /// - Complexity: O(*n*) for *n* clients.
  @inlinable
  nonisolated(nonsending) public func map<Listener, Answer, Failure: Error>(
    _ listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    awaiting transform: nonisolated(nonsending) (Listener) async throws(Failure) -> Answer
  ) async throws(Failure) -> [Answer] {
    let site = CallSite(fileID: fileID, line: line, column: column)
    guard let delegate = withDelegate(for: listener, from: site, { $0 }) else { return [] }
    return try await delegate.map(
      fileID: fileID, line: line, column: column, awaiting: transform)
  }
}
