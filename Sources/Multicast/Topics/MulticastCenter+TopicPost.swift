extension MulticastCenter {
  /// Calls every handler of a topic in its home, in the order of registration.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// center.post(.userLogin, UserLogin(id: 19000))
  /// ```
  ///
  /// A handler is called in the actor in which it was written, on its queue, or else on this thread. When this
  /// returns, handlers without a home and handlers whose home is here have been called, after what waited here before.
  /// The others are called a little later. In a handler or client that `post` is calling, it returns at once, and
  /// what it posts follows in every home.
  ///
  /// What one thread or task posts arrives in every home in that order, across protocols and topics. May be
  /// called from any thread, in a handler, and in a `deinit`. The topic need not have observers.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - message: What the handlers receive.
  ///   - isolation: The actor that this is called in.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  /// - Returns: The number of handlers that were called or will be, if their owners live. 0 if the call was
  ///   refused, because one call has set off more than 1,000 recurring ones: see <doc:Loops>.
  /// - Complexity: O(*n*).
  @discardableResult
  @inlinable
  public func post<Message>(
    _ topic: Topic<Message>, _ message: Message, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Int {
    let site = CallSite(fileID: fileID, line: line, column: column)
    while let list = list(of: topic, from: site) {
      let count = ErasedMessage.lend(message) { erased in
        list.post(erased, isolation: isolation, from: site) { message }
      }
      if let count { return count }
      forget(list, of: topic, from: site)
    }
    return 0
  }

  /// Calls every handler of a topic in its home, and returns after all calls.
  ///
  /// It does not wait for what handlers post in turn, for a handler that itself waits for this call, or for one
  /// that has started the calling task and still runs. It waits until every home comes to the calls, also if
  /// handlers are removed meanwhile, who are not called then. Cancellation does not end the wait.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - message: What the handlers receive.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  /// - Returns: The number of handlers that were to be called. 0 if the call was refused.
  /// - Complexity: O(*n*).
  @discardableResult
  nonisolated(nonsending) public func postAndWait<Message>(
    _ topic: Topic<Message>, _ message: Message,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) async -> Int {
    let site = CallSite(fileID: fileID, line: line, column: column)
    while let list = list(of: topic, from: site) {
      if let count = await list.postAndWait(message, from: site) { return count }
      forget(list, of: topic, from: site)
    }
    return 0
  }
}
