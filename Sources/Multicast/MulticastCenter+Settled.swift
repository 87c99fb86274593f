extension MulticastCenter {
  /// Returns when no letter waits in this center and no home is handling one, what follows from them included.
  ///
  /// <!-- example: in Settling -->
  /// ```swift
  /// center.post(.userLogin, UserLogin(id: 19000))
  /// await center.settled()  // all homes have handled it, and what their handlers posted
  /// ```
  ///
  /// It waits for what was posted before: for every home, for calls that are awaited, and for all that their clients
  /// and handlers post in turn. A post that another thread makes meanwhile may or may not be waited for. A post that a
  /// task will make later is not: nobody knows of it. `notify` leaves nothing to wait for.
  ///
  /// Called inside of a post's call to a client or a handler, it would wait for itself. It returns at once then, and
  /// says so in a debug build. It does not return while a queue is suspended in which letters wait, or while clients
  /// go on posting for ever. Cancellation ends the wait.
  ///
  /// Posts pay nothing for this.
  ///
  /// - Parameters:
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  /// - Returns: Whether the center has settled; false if the task was cancelled, or if the call was inside of a
  ///   post's call.
  /// - Complexity: O(*h*) for *h* homes, for each step that follows from another one.
  @discardableResult
  nonisolated(nonsending) public func settled(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) async -> Bool {
    await office.settled(from: CallSite(fileID: fileID, line: line, column: column))
  }
}
