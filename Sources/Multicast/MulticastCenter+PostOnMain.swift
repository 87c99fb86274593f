extension MulticastCenter {
  /// Calls every client of a listener protocol on the main actor, in order.
  ///
  /// <!-- example: in Screens -->
  /// ```swift
  /// center.postOnMain(ScreenProtocol.self) { $0.downloadDidProgress(to: 50) }
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
  ///   - listener: The protocol.
  ///   - isolation: The actor that this is called in.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives each client that is registered now, and still is at its turn.
  /// - Returns: The number of clients that were called or will be. 0 if the call was refused, because one
  ///   call has set off more than 1,000 recurring ones: see <doc:Loops>.
  /// - Complexity: O(*n*).
  @discardableResult
  @inlinable
  public func postOnMain<Listener>(
    _ listener: Listener.Type, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @MainActor @Sendable (Listener) -> Void
  ) -> Int {
    post(listener, isolation: isolation, fileID: fileID, line: line, column: column, body)
  }

  /// Calls every client of a listener protocol on the main actor, in order, and returns after all calls.
  ///
  /// Does not wait for what clients post in turn. It waits until the main actor comes to the calls, also if the
  /// clients are removed meanwhile, who are not called then. Cancellation does not end the wait.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives each client that is registered now, and still is at its turn.
  /// - Returns: The number of clients that were to be called. 0 if the call was refused.
  /// - Complexity: O(*n*).
  @discardableResult
  nonisolated(nonsending) public func postOnMainAndWait<Listener>(
    _ listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @MainActor @Sendable (Listener) -> Void
  ) async -> Int {
    await postAndWait(listener, fileID: fileID, line: line, column: column, body)
  }
}
