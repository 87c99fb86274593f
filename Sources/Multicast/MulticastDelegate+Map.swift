extension MulticastDelegate {
  /// Asks every client, and returns the answers in the order of the clients.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// let mayClose = delegates.map { $0.documentMayClose() }.allSatisfy { $0 }
  /// ```
  ///
  /// Asks on this thread, as `notify` calls. The first error ends the call, and the answers are lost.
  ///
  /// - Returns: The answers; none without clients, or if the call was a loop.
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
