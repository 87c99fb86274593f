extension MulticastCenter {
  /// Calls every client of a listener protocol in its home, in order.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// center.post(UserProtocol.self) { $0.userLogin(19000) }
  /// ```
  ///
  /// `post` calls a client in the actor in which it was added, or on its queue. It calls other clients on
  /// this thread.
  ///
  /// When `post` returns, it has called all clients without a home, and those whose home is the actor or queue
  /// that you post from, after everything that was already waiting there, unless that queue is global or another
  /// thread is calling there. It calls the others after it returns. If `post` is calling the client that posts,
  /// this returns immediately, and what it posts follows in every home.
  ///
  /// What one thread or task posts through one center arrives in every home in that order, across protocols and
  /// topics.
  ///
  /// For clients of a `@MainActor` protocol, use `postOnMain`. For clients of another global actor's
  /// protocol, and to await clients, use `awaiting:`.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - isolation: The actor in which you call this.
  ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Receives each client that is registered now and still is at its turn. It is kept until all
  ///     calls are done and the result is released.
  /// - Returns: The number of clients, and a way to wait until they have been called. You can ignore it.
  /// - Complexity: O(*n*) for *n* clients.
  @discardableResult @inlinable
  public func post<Listener>(
    _ listener: Listener.Type, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @Sendable (Listener) -> Void
  ) -> Posted {
    let site = CallSite(fileID: fileID, line: line, column: column)
    return withDelegate(for: listener, from: site) { delegate in
      delegate.post(isolation: isolation, fileID: fileID, line: line, column: column, body)
    } ?? Posted()
  }

  /// Calls every client of a listener protocol on the main actor, in order.
  ///
  /// <!-- example: in Screens -->
  /// ```swift
  /// center.postOnMain(ScreenProtocol.self) {
  ///   $0.downloadDidProgress(to: 50)
  /// }
  /// ```
  ///
  /// Use it from any thread for clients on the main actor, such as those of a `@MainActor` protocol. On the
  /// main actor, it returns after all calls. Elsewhere, or if `post` is calling the client that posts, the
  /// calls are made after it returns. For clients at home on the main actor, they have one order with those of
  /// `post`, across protocols and topics.
  ///
  /// It also calls clients without a home on the main actor. A debug build stops if the home of a client that is
  /// not an actor is another actor or a queue.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - isolation: The actor in which you call this.
  ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Receives each client that is registered now and still is at its turn. It is kept until all
  ///     calls are done and the result is released.
  /// - Returns: The number of clients, and a way to wait until they have been called. You can ignore it.
  /// - Complexity: O(*n*) for *n* clients.
  @discardableResult @inlinable
  public func postOnMain<Listener>(
    _ listener: Listener.Type, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @MainActor @Sendable (Listener) -> Void
  ) -> Posted {
    let site = CallSite(fileID: fileID, line: line, column: column)
    return withDelegate(for: listener, from: site) { delegate in
      delegate.postOnMain(isolation: isolation, fileID: fileID, line: line, column: column, body)
    } ?? Posted()
  }

  /// Calls every client of a listener protocol in a task, which awaits the call.
  ///
  /// <!-- example: in Program -->
  /// ```swift
  /// center.post(StoreProtocol.self, awaiting: {
  ///   await $0.store(19000)
  /// })
  /// ```
  ///
  /// The protocol must be `Sendable`. The calls of one client through this center do not overlap, and keep their order. Different
  /// clients are called side by side. The calls have no common order with those of a `post` that does not
  /// await.
  ///
  /// A body that names an actor runs there. The client is retained and released in the actor that you gave it
  /// as its home, or else in the actor of `body`.
  ///
  /// - Parameters:
  ///   - listener: The protocol.
  ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Receives and awaits each client that is registered now and still is at its turn.
  /// - Returns: The number of clients, and a way to wait until they have been called. You can ignore it.
  /// - Complexity: O(*n*) for *n* clients. Starts a task for each idle client.
  @discardableResult
  public func post<Listener: Sendable>(
    _ listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    awaiting body: @escaping @isolated(any) @Sendable (Listener) async -> Void
  ) -> Posted {
    let site = CallSite(fileID: fileID, line: line, column: column)
    return withDelegate(for: listener, from: site) { delegate in
      delegate.post(fileID: fileID, line: line, column: column, awaiting: body)
    } ?? Posted()
  }
}

extension MulticastCenter {
  /// Waits until everything that was posted has been handled, with everything that was posted in response.
  ///
  /// <!-- example: in Settling -->
  /// ```swift
  /// center.post(.userLogin, UserLogin(id: 19000))
  /// // All homes have handled it, and what their
  /// // handlers have posted.
  /// await center.settled()
  /// ```
  ///
  /// It waits for every post that was made before, on any thread: from the moment `post` is entered until its
  /// last call has returned, even if the calls are awaited, and for all that clients and handlers post in
  /// response. A post that another thread makes in the meantime may or may not be waited for. It cannot wait
  /// for a post that a task has not made yet. A `notify` is not waited for, even if it is calling clients on
  /// another thread, and neither are posts of a ``MulticastDelegate`` that you created.
  ///
  /// If a post is calling the client or handler that calls this, it would wait for itself. Then it returns
  /// immediately, and a debug build prints a warning. It does not return while a post waits for a suspended
  /// queue, or while posts are made faster than homes handle them, unless you limit the time. Cancellation ends
  /// the wait.
  ///
  /// - Parameters:
  ///   - seconds: The time limit in seconds. With 0 or less, it only asks whether the center has settled. If it is
  ///     not a number, the program stops.
  ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  /// - Returns: Whether the center has settled. False if the time is up, if the task was cancelled, or if a
  ///   post is calling the code that asks. Then ``wiring`` shows the homes that are behind.
  /// - Complexity: O(1), without the time that the posts take.
  @discardableResult
  nonisolated(nonsending) public func settled(
    within seconds: Double = .infinity,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) async -> Bool {
    await office.settled(
      within: seconds, from: CallSite(fileID: fileID, line: line, column: column))
  }
}

// A system without Dispatch, such as WASI, has no other thread to wait for.
#if canImport(Dispatch)
  extension MulticastCenter {
    /// Blocks this thread until everything that was posted has been handled, in a program without `async`.
    ///
    /// <!-- example: in Settling -->
    /// ```swift
    /// // The end of a command-line program
    /// if !center.waitUntilSettled(within: 5) {
    ///   print(center.wiring)
    /// }
    /// ```
    ///
    /// It waits for the same posts as ``settled(within:fileID:line:column:)``.
    ///
    /// A home cannot handle its letters while its only thread waits here. So do not call this on a listener's
    /// queue, nor on the main thread if a listener has the main actor as its home. There it returns false when
    /// the time is up, never if you pass `.infinity`, and a debug build prints a warning. Asynchronous code
    /// cannot call it, because it would block a thread that other tasks need.
    ///
    /// - Parameters:
    ///   - seconds: The time limit in seconds. With 0 or less, it only asks whether the center has settled. If it
    ///     is not a number, the program stops.
    ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
    ///   - line: The line of the call site.
    ///   - column: The column of the call site.
    /// - Returns: Whether the center has settled. False if the time is up, or if a post is calling the code that
    ///   asks. Then ``wiring`` shows the homes that are behind.
    /// - Complexity: O(1), without the time that the posts take.
    @available(*, noasync, message: "Await settled(within:) instead.")
    @discardableResult
    public func waitUntilSettled(
      within seconds: Double,
      fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
    ) -> Bool {
      office.waitUntilSettled(
        within: seconds, from: CallSite(fileID: fileID, line: line, column: column))
    }
  }
#endif
