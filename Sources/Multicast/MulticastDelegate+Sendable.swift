extension MulticastDelegate where Listener: Sendable {
  /// Adds a client behind those that are in the list.
  ///
  /// The client is held weakly, so nothing has to be removed before its end. A notify that is under
  /// way does not call it. May be called from any thread, and the client may be notified from any.
  ///
  /// - Parameter client: A class instance or an actor. A value stops the program, since values cannot
  ///   be held weakly.
  /// - Returns: Whether the client was added: false if it is in the list already, and then its place
  ///   in the order stays what it was, or if it is in its `deinit`.
  /// - Complexity: Amortised O(1).
  @discardableResult
  public func add(_ client: Listener) -> Bool {
    add(client, in: nil)
  }
}
