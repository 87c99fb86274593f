extension MulticastDelegate {
  /// Calls every client and awaits each call, one after the other, in order.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// await delegates.notify(awaiting: { await $0.store(19000) })
  /// ```
  ///
  /// Use it for actors and asynchronous methods. The protocol must be `Sendable`, or its methods
  /// `nonisolated(nonsending)`.
  ///
  /// `body` runs in the caller's actor and task. Call this in the home of all clients that are not actors: a
  /// debug build stops if such a client has another home. Use `post` then, with `awaiting:` if the protocol is
  /// `Sendable`. The first error ends the call. Cancellation does not, so let `body` throw. The delegate keeps a
  /// client alive until its call returns. A loop through the same task is refused and reported. A task that a
  /// client starts is not part of the call.
  ///
  /// - Parameters:
  ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Receives and awaits each client.
  /// - Returns: The number of clients called.
  /// - Complexity: O(*n*) for *n* clients.
  @discardableResult @inlinable
  nonisolated(nonsending) public func notify<Failure: Error>(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    awaiting body: nonisolated(nonsending) (Listener) async throws(Failure) -> Void
  ) async throws(Failure) -> Int {
    if clientList.isSilent { return 0 }
    let site = CallSite(fileID: fileID, line: line, column: column)
    guard let frame = loopGuard.enterAwaited(list: clientList, site: site) else { return 0 }
    return try await frame.run { () async throws(Failure) in
      try await callEachClient(from: site, awaiting: body)
    }
  }

  /// Asks every client and awaits each answer, one after the other, in order.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// let free = await delegates.map(awaiting: {
  ///   await $0.freeBytes()
  /// })
  /// ```
  ///
  /// It calls the clients as `notify` with `awaiting:` does. The first error ends the call, and the answers are
  /// lost. <doc:CommonTasks> shows how to ask all clients at the same time.
  ///
  /// - Parameters:
  ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Awaits and returns a client's answer.
  /// - Returns: The answers, in the order of the clients. Empty if there are no clients, or if the call was a
  ///   loop.
  /// - Complexity: O(*n*) for *n* clients.
  @inlinable
  nonisolated(nonsending) public func map<Answer, Failure: Error>(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    awaiting transform: nonisolated(nonsending) (Listener) async throws(Failure) -> Answer
  ) async throws(Failure) -> [Answer] {
    var answers: [Answer] = []
    try await notify(
      fileID: fileID, line: line, column: column,
      awaiting: { (client) async throws(Failure) in answers.append(try await transform(client)) })
    return answers
  }

  /// Calls `body` with the clients that are registered now, and awaits each call, as ``forEachClient(_:)`` does without
  /// awaiting. Reports the delivery.
  @inlinable
  nonisolated(nonsending) func callEachClient<Failure: Error>(
    from site: CallSite,
    awaiting body: nonisolated(nonsending) (Listener) async throws(Failure) -> Void
  ) async throws(Failure) -> Int {
    let pass = reporter?.beginPass(.awaiting, clientList, from: site)
    defer { pass?.endPass() }
    var called = 0
    for box in clientList.boxes {
      let wasCalled: Void? = try await Self.clientBox(box).withClient(
        awaiting: { (client) async throws(Failure) in
          #if DEBUG
            box.checkHome(as: Listener.self, from: site)
          #endif
          let call = pass?.beginCall(of: box)
          defer { if let call { pass?.endCall(call) } }
          try await body(client)
        })
      if wasCalled == nil { clientList.endRegistration(of: box) } else { called += 1 }
    }
    return called
  }
}
