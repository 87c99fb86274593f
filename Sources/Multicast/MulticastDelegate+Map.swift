extension MulticastDelegate {
  /// Asks every client, and returns the answers in the order of the clients.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// let mayClose = delegates.map { $0.documentMayClose() }.allSatisfy { $0 }
  /// ```
  ///
  /// Everything else is as in ``notify(fileID:line:column:_:)``.
  ///
  /// - Parameters:
  ///   - fileID: The file of the call site; leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Is called with each client. The first error that it throws ends the call, which
  ///     throws it, and the answers so far are lost.
  /// - Returns: The answers; none if there is no client, or if this was a loop and refused.
  /// - Complexity: O(*n*).
  @inlinable
  public func map<Answer, Failure: Error>(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ transform: (Listener) throws(Failure) -> Answer
  ) throws(Failure) -> [Answer] {
    var answers: [Answer] = []
    _ = try deliver(.map, from: CallSite(fileID: fileID, line: line, column: column)) {
      (client, _) throws(Failure) in
      answers.append(try transform(client))
    }
    return answers
  }
}
