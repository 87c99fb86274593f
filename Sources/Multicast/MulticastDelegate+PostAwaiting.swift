extension MulticastDelegate where Listener: Sendable {
  /// Calls every client in a task of its own.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// delegates.postAwaiting { await $0.store(19000) }
  /// ```
  ///
  /// The calls of one client do not overlap, and keep their order. Different clients are called side by side.
  /// The calls are not in order with those of `post`. A body that names an actor runs there. The protocol
  /// must be `Sendable`.
  ///
  /// - Parameters:
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives and awaits each client that is registered now, and still is at its turn.
  /// - Returns: The number of clients that will be called, if they live.
  /// - Complexity: O(*n*). Starts a task for each idle client.
  @discardableResult
  public func postAwaiting(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) async -> Void
  ) -> Int {
    if clientList.isEmpty { return 0 }
    let site = CallSite(fileID: fileID, line: line, column: column)
    return office.post(
      Posting(to: clientList, from: site, isolation: nil, isAwaited: true),
      subject: .listener(Listener.self), call: { _, _ in .skipped },
      make: { posting, origin in Self.makePost(posting, origin, body) }) ?? 0
  }

  /// Calls every client in a task of its own, and returns after all calls.
  ///
  /// It does not wait for a client that itself waits for this call. A client that is removed or deallocated
  /// before its turn is not called then. Cancellation does not end the wait.
  ///
  /// - Parameters:
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives and awaits each client that is registered now, and still is at its turn.
  /// - Returns: The number of clients that were to be called.
  /// - Complexity: O(*n*).
  @discardableResult
  nonisolated(nonsending) public func postAwaitingAndWait(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) async -> Void
  ) async -> Int {
    await office.postAndWait(
      Posting(
        to: clientList, from: CallSite(fileID: fileID, line: line, column: column),
        isolation: nil, isAwaited: true),
      subject: .listener(Listener.self), call: { _, _ in .skipped },
      make: { posting, origin in Self.makePost(posting, origin, body) }) ?? 0
  }

  private static func makePost(
    _ posting: borrowing Posting, _ origin: Post.Origin,
    _ body: @escaping @isolated(any) @Sendable (Listener) async -> Void
  ) -> Post {
    Post(
      posting, origin, call: { _, _, _ in .skipped },
      callAwaiting: { registration, post, _ in
        await call(body, registration, in: post.list, isolation: body.isolation)
      })
  }

  /// Calls a body in its actor, where a removal may have come first.
  private static func call(
    _ body: @isolated(any) @Sendable (Listener) async -> Void, _ registration: Registration,
    in list: ClientList, isolation: isolated (any Actor)?
  ) async {
    guard let (client, object) = list.client(of: registration, as: Listener.self) else { return }
    await body(client)
    extendLifetime(object)
  }
}

extension ClientList {
  /// The client of a registration, and its object, which keeps it alive.
  fileprivate func client<Listener>(
    of registration: Registration, as listener: Listener.Type
  ) -> (listener: Listener, object: AnyObject)? {
    defer { extendLifetime(self) }
    guard var walk = beginWalk(at: registration), let box = walk.next(), let object = box.load()
    else { return nil }
    return unsafe (box.bits(as: listener).pointee.borrow { $0 }, object)
  }
}
