extension MulticastDelegate where Listener: Sendable {
  /// Adds a client behind those that are in the list.
  ///
  /// The client is held weakly, so nothing has to be removed before its end. A delivery that is
  /// under way does not call it. The client has no home: a notify or a post calls it on the calling
  /// thread. May be called from any thread.
  ///
  /// - Parameter client: A class instance or an actor. A value stops the program, since values
  ///   cannot be held weakly.
  /// - Returns: Whether the client was added: false if it is in the list already, and then it keeps
  ///   its place and its home, or if it is in its `deinit`.
  /// - Complexity: Amortised O(1).
  @discardableResult
  public func add(_ client: Listener) -> Bool {
    add(client, in: nil)
  }
}
