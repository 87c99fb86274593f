extension MulticastDelegate where Listener: Sendable {
  /// Adds a client at the end of the list. The client has no home and is called on the calling thread.
  ///
  /// - Parameter client: A class instance or an actor. A value stops the program.
  /// - Returns: Whether the client was added, as for ``add(_:isolation:)``.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func add(_ client: Listener) -> Bool {
    add(client, in: nil)
  }
}
