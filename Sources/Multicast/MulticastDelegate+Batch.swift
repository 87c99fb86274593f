extension MulticastDelegate {
  /// Calls every client with many events: the first client with all events, then the second one, and so on.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// delegates.notify(forEach: files) { client, file in
  ///   client.found(file)
  /// }
  /// ```
  ///
  /// This is much faster than one `notify` for each event, because each client is loaded once. A client that
  /// is removed receives no further events. A client that is released during its events receives the rest of
  /// them. Without events, every client counts as called. The first error ends the call. A loop is refused,
  /// as in a `notify` of one event.
  ///
  /// - Parameters:
  ///   - events: The events.
  ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Receives each client with each event.
  /// - Returns: The number of clients called.
  /// - Complexity: O(*n* · *m*) for *n* clients and *m* events. Allocates nothing,
  ///   unless it removes deallocated clients or is reported.
  @discardableResult @inlinable @inline(__always)
  public func notify<Events: Collection, Failure: Error>(
    forEach events: Events,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: (Listener, Events.Element) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    try notifyEach(from: CallSite(fileID: fileID, line: line, column: column)) {
      (client, box) throws(Failure) in
      // By index, because a loop over the elements would copy each of them.
      var index = events.startIndex
      let end = events.endIndex
      while index != end, box.identity != 0 {
        try body(client, events[index])
        events.formIndex(after: &index)
      }
    }
  }
}
