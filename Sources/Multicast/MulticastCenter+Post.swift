extension MulticastCenter {
  /// Calls every client of a listener protocol in its home, in order.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// center.post(UserProtocol.self) { $0.userLogin(19000) }
  /// ```
  ///
  /// A client added in an actor is called there, and a client added on a queue on that queue. Other clients
  /// are called on this thread.
  ///
  /// When this returns, all clients that have no home, or whose home is where this is called, have been called. What
  /// waited there came first. The others are called a little later. In a client that `post` is calling, this
  /// returns at once, and what it posts follows in every home.
  ///
  /// What one thread or task posts arrives in every home in that order, across protocols and topics.
  ///
  /// Clients of a `@MainActor` protocol are called with `postOnMain`. Clients of another global actor's protocol, and
  /// clients that are awaited, are called with `awaiting:`.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - isolation: The actor that this is called in.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives each client that is registered now, and still is at its turn. Kept until all calls
  ///     are done.
  /// - Returns: The number of clients, and a way to wait for the calls. It may be ignored.
  /// - Complexity: O(*n*).
  @discardableResult @inlinable
  public func post<Listener>(
    _ listener: Listener.Type, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @Sendable (Listener) -> Void
  ) -> Posted {
    #if DEBUG
      tellOfClasses(insteadOf: listener, from: CallSite(fileID: fileID, line: line, column: column))
    #endif
    return withDelegate(for: listener) { delegate in
      delegate.post(isolation: isolation, fileID: fileID, line: line, column: column, body)
    } ?? Posted()
  }

  /// Calls every client of a listener protocol on the main actor, in order.
  ///
  /// <!-- example: in Screens -->
  /// ```swift
  /// center.postOnMain(ScreenProtocol.self) { $0.downloadDidProgress(to: 50) }
  /// ```
  ///
  /// Use it from any thread for clients that live on the main actor, such as those of a `@MainActor`
  /// protocol. Called on the main actor, it returns after all calls. Elsewhere, the calls follow a little
  /// later. So they do in a client that `post` is calling. They are in one order with those of `post`, across
  /// protocols and topics.
  ///
  /// Clients without a home are called on the main actor, too. A debug build stops if a client lives in
  /// another actor or on a queue.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - isolation: The actor that this is called in.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives each client that is registered now, and still is at its turn.
  /// - Returns: The number of clients, and a way to wait for the calls. It may be ignored.
  /// - Complexity: O(*n*).
  @discardableResult @inlinable
  public func postOnMain<Listener>(
    _ listener: Listener.Type, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @MainActor @Sendable (Listener) -> Void
  ) -> Posted {
    #if DEBUG
      tellOfClasses(insteadOf: listener, from: CallSite(fileID: fileID, line: line, column: column))
    #endif
    return withDelegate(for: listener) { delegate in
      delegate.postOnMain(isolation: isolation, fileID: fileID, line: line, column: column, body)
    } ?? Posted()
  }

  /// Calls every client of a listener protocol in a task of its own.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// center.post(StoreProtocol.self, awaiting: { await $0.store(19000) })
  /// ```
  ///
  /// The calls of one client do not overlap, and keep their order. Different clients are called side by side.
  /// The calls are not in order with those of a `post` that does not await. A body that names an actor runs there. A
  /// client that was given an actor as its home is held there, any other one in the actor of the body. The protocol must be
  /// `Sendable`.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives and awaits each client that is registered now, and still is at its turn.
  /// - Returns: The number of clients, and a way to wait for the calls. It may be ignored.
  /// - Complexity: O(*n*). Starts a task for each idle client.
  @discardableResult
  public func post<Listener: Sendable>(
    _ listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    awaiting body: @escaping @isolated(any) @Sendable (Listener) async -> Void
  ) -> Posted {
    withDelegate(for: listener) { delegate in
      delegate.post(fileID: fileID, line: line, column: column, awaiting: body)
    } ?? Posted()
  }
}

extension MulticastCenter {
  /// Waits until all that was posted has been handled, and all that was posted in answer to it.
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
  /// says so in a debug build. It does not return while a queue is suspended in which something waits, or while
  /// anybody goes on posting faster than homes are done. Cancellation ends the wait.
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
