extension MulticastDelegate where Listener: Sendable {
  /// Adds a client at the end of the list.
  ///
  /// The client has no home. It is called on every thread that notifies or posts.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - fileID: The caller's file, for messages about this client. A wrapper passes its caller's on.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Returns: Whether the client was added. False if it is in the list already, and keeps its place.
  ///   False while the client is being deinitialized.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func add(
    _ client: Listener,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Bool {
    add(client, in: Mailbox?.none, at: CallSite(fileID: fileID, line: line, column: column))
  }
}
