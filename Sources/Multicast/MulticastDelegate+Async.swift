extension MulticastDelegate {
  /// Calls and awaits `body` with every client, one after the other, in order: for actors, and for
  /// listener protocols with asynchronous methods.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// await delegates.notify(awaiting: { await $0.store(19000) })
  /// ```
  ///
  /// The compiler lets a client's asynchronous method be called here if the protocol is `Sendable`,
  /// as that of actors is, or if the method is `nonisolated(nonsending)`.
  ///
  /// It runs where its caller runs: in the caller's actor, if there is one, and in its task, with
  /// its priority and its cancellation. A cancelled task goes on calling clients; to end early, let
  /// `body` throw. A client that is waited for is kept alive until its call returns.
  ///
  /// Calls the clients registered now, except those removed or deallocated before their turn. If
  /// this call site is delivering this list already, in the same task, nobody is called and the
  /// loop is reported. A task that a client starts is not part of the call: it may notify again.
  ///
  /// - Parameters:
  ///   - fileID: The file of the call site; leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Is called and awaited with each client. The first error that it throws ends the
  ///     notify, which throws it: later clients are not called.
  /// - Returns: The number of clients called.
  /// - Complexity: O(*n*).
  @discardableResult
  @inlinable
  nonisolated(nonsending) public func notify<Failure: Error>(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    awaiting body: nonisolated(nonsending) (Listener) async throws(Failure) -> Void
  ) async throws(Failure) -> Int {
    if clientList.isEmpty { return 0 }
    let site = CallSite(fileID: fileID, line: line, column: column)
    guard
      let link = office.reentrancyGuard.enterAwaited(
        list: clientList, site: site, key: { String(describing: Listener.self) })
    else {
      reporter?.refuse(.awaiting, .listener(Listener.self), from: site)
      return 0
    }
    return try await link.deliver { () async throws(Failure) in
      if reporter != nil { return try await forEachClientReporting(from: site, awaiting: body) }
      return try await forEachClient(from: site) { (client, _) async throws(Failure) in
        try await body(client)
      }
    }
  }

  /// As ``forEachClient(_:)``, awaiting each client's call.
  @inlinable
  nonisolated(nonsending) func forEachClient<Failure: Error>(
    from site: CallSite,
    awaiting body: nonisolated(nonsending) (Listener, WeakBox) async throws(Failure) -> Void
  ) async throws(Failure) -> Int {
    defer { extendLifetime(self) }
    var walk = clientList.beginWalk()
    var called = 0
    while let box = walk.next() {
      let wasCalled: Void? = try await box.withClient(
        as: Listener.self,
        awaiting: { (client) async throws(Failure) in
          #if DEBUG
            box.checkHome(of: client, as: Listener.self, from: site)
          #endif
          called += 1
          try await body(client, box)
        })
      if wasCalled == nil { walk.noteDead(box) }
    }
    return called
  }
}
