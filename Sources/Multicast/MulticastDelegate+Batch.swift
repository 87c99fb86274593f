extension MulticastDelegate {
  /// Calls `body` with every client and every event: the first client with all events in their
  /// order, then the second one, and so on.
  ///
  /// Much cheaper than a notify for each event, because each client is looked up once. Use it where
  /// clients only have to see events in their order, not to keep step with each other.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// delegates.notify(forEach: files) { client, file in client.found(file) }
  /// ```
  ///
  /// A client that is removed gets no further events, even in the middle of its own; one whose
  /// other owners release it in the middle gets the rest of them. Everything else is as in
  /// ``notify(fileID:line:column:_:)``, and the batch counts as one notify.
  ///
  /// - Parameters:
  ///   - events: The events. Without any, every client is counted as called.
  ///   - fileID: The file of the call site; leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Is called with each client and each event. The first error that it throws ends the
  ///     batch, which throws it.
  /// - Returns: The number of clients called.
  /// - Complexity: O(*n* · *m*) for *n* clients and *m* events. Allocates nothing.
  @discardableResult
  @inlinable
  public func notify<Events: Collection, Failure: Error>(
    forEach events: Events,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: (Listener, Events.Element) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    try deliver(.forEach, from: CallSite(fileID: fileID, line: line, column: column)) {
      (client, box) throws(Failure) in
      // By index, so that an event is lent from where it is: a loop over the elements copies each.
      var index = events.startIndex
      let end = events.endIndex
      while index != end, box.identity != 0 {
        try body(client, events[index])
        events.formIndex(after: &index)
      }
    }
  }
}
