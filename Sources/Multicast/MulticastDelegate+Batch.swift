extension MulticastDelegate {
  /// Calls `body` with every client and every event: the first client with all events, then the second one,
  /// and so on.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// delegates.notify(forEach: files) { client, file in client.found(file) }
  /// ```
  ///
  /// Much faster than a call for each event, because each client is loaded once. A removed client receives no
  /// further events. A client released during its events receives the rest of them. Without events, every
  /// client counts as called. The first error ends the call. A loop is refused as by `notify` with one event.
  ///
  /// - Returns: The number of clients called.
  /// - Complexity: O(*n* · *m*) for *n* clients and *m* events. Allocates nothing.
  @discardableResult @inlinable @inline(__always)
  public func notify<Events: Collection, Failure: Error>(
    forEach events: Events,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: (Listener, Events.Element) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    try notifyEach(from: CallSite(fileID: fileID, line: line, column: column)) {
      (client, box) throws(Failure) in
      // By index, because a loop over the elements would copy each.
      var index = events.startIndex
      let end = events.endIndex
      while index != end, box.identity != 0 {
        try body(client, events[index])
        events.formIndex(after: &index)
      }
    }
  }
}
