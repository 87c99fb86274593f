// MARK: - Calls

extension MulticastDelegate {
  /// Calls every client in its home, in order.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// delegates.post { $0.userLogin(19000) }
  /// ```
  ///
  /// A client added in an actor is called there, and a client added on a queue on that queue. Other clients
  /// are called on this thread. Calls elsewhere happen a little later. `body` receives each client of this
  /// moment that is still registered and alive at its turn. The posts of one thread or task reach every home
  /// in their order, across protocols and topics.
  ///
  /// A post made by a client that a post is calling follows that post in every home. Any other post returns
  /// after the calls of clients without a home and of clients at home here. Earlier letters to this home go
  /// first.
  ///
  /// A body that names an actor, as in `{ @MainActor in $0.show(1) }`, runs there for every client. A
  /// main-actor protocol needs this. A debug build stops if a client lives elsewhere.
  ///
  /// A wrapper passes its caller's `fileID`, `line` and `column` on: see ``CallSite``.
  ///
  /// - Returns: The number of clients that were called or will be. 0 if one post has set off more than 1,000
  ///   recurring posts, and this one is refused.
  /// - Complexity: O(*n*).
  @discardableResult
  @inlinable
  public func post(
    isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) -> Void
  ) -> Int {
    let actor = body.isolation
    let function = IsolatedFunction(body).callable
    let site = CallSite(fileID: fileID, line: line, column: column)
    return post(from: site, isolation: isolation, actor: actor) { box in
      Self.call(box, function)
    } content: {
      ClosureContent(actor: actor, Listener.self, site) { box in Self.call(box, function) }
    }
  }

  /// Calls every client in its home, in order, and returns after all calls.
  ///
  /// It does not wait for a client that is removed or deallocated before its turn, nor for posts that clients
  /// make. Cancellation does not end the wait. See ``post(isolation:fileID:line:column:_:)``.
  ///
  /// - Returns: The number of clients that were to be called.
  /// - Complexity: O(*n*).
  @discardableResult
  nonisolated(nonsending) public func postAndWait(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) -> Void
  ) async -> Int {
    let actor = body.isolation
    let function = IsolatedFunction(body).callable
    let site = CallSite(fileID: fileID, line: line, column: column)
    return await office.postAndWait(
      Posting(
        to: clientList, from: site, isolation: #isolation, actor: actor),
      subject: { .listener(Listener.self) },
      ClosureContent(actor: actor, Listener.self, site) { box in Self.call(box, function) })
  }

  @inlinable
  static func call(_ box: WeakBox, _ body: (Listener) -> Void) -> Bool {
    box.withClient(as: Listener.self, body) != nil
  }

  @usableFromInline
  func post(
    from site: CallSite, isolation: (any Actor)?, actor: (any Actor)?,
    call: (WeakBox) -> Bool, content: () -> ClosureContent
  ) -> Int {
    if clientList.isEmpty { return 0 }
    return office.post(
      Posting(to: clientList, from: site, isolation: isolation, actor: actor),
      subject: { .listener(Listener.self) },
      call: { box in
        #if DEBUG
          if let actor { box.checkHome(as: Listener.self, named: actor, from: site) }
        #endif
        return call(box) ? .called : .dead
      },
      make: { cause, recurrences, trace in
        PostOf(
          content(), list: clientList, site: site, parent: cause, recurrences: recurrences,
          trace: trace)
      })
  }
}

// MARK: - Awaited calls

extension MulticastDelegate where Listener: Sendable {
  /// Calls every client in a task of its own.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// delegates.post { await $0.store(19000) }
  /// ```
  ///
  /// The calls of one client do not overlap, and keep the order of the posts. Different clients run side by
  /// side. A body that names an actor runs there. See ``post(isolation:fileID:line:column:_:)``.
  ///
  /// - Returns: The number of clients that will be called, if they live.
  /// - Complexity: O(*n*). Starts a task for each idle client.
  @discardableResult
  public func post(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) async -> Void
  ) -> Int {
    if clientList.isEmpty { return 0 }
    let site = CallSite(fileID: fileID, line: line, column: column)
    let content = AwaitedContent(body: body)
    return office.post(
      Posting(to: clientList, from: site, isolation: nil, isAwaited: true),
      subject: { .listener(Listener.self) },
      call: { box in content.call(box, of: clientList, on: .posting) },
      make: { cause, recurrences, trace in
        PostOf(
          content, list: clientList, site: site, parent: cause, recurrences: recurrences,
          trace: trace)
      })
  }

  /// Calls every client in a task of its own, and returns after all calls.
  ///
  /// It does not wait for a client that is removed or deallocated before its turn, nor for one that itself
  /// waits for this post. Cancellation does not end the wait. See ``post(fileID:line:column:_:)``.
  ///
  /// - Returns: The number of clients that were to be called.
  /// - Complexity: O(*n*).
  @discardableResult
  nonisolated(nonsending) public func postAndWait(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) async -> Void
  ) async -> Int {
    await office.postAndWait(
      Posting(
        to: clientList, from: CallSite(fileID: fileID, line: line, column: column),
        isolation: #isolation, isAwaited: true), subject: { .listener(Listener.self) },
      AwaitedContent(body: body))
  }
}

// MARK: - What is posted

/// A body that receives clients.
@usableFromInline
struct ClosureContent: PostContent {
  let actor: (any Actor)?
  private let listener: Any.Type
  private let site: CallSite
  private let deliver: @Sendable (WeakBox) -> Bool

  /// - Parameter deliver: Calls the client in a box, and returns whether it is alive. Written where the
  ///   listener's type is known, so it is specialized.
  @usableFromInline
  init(
    actor: (any Actor)?, _ listener: Any.Type, _ site: CallSite,
    deliver: @escaping @Sendable (WeakBox) -> Bool
  ) {
    self.actor = actor
    self.listener = listener
    self.site = site
    self.deliver = deliver
  }

  func call(_ box: WeakBox, of list: ClientList, on occasion: CallOccasion) -> CallOutcome {
    #if DEBUG
      if let actor { box.checkHome(as: listener, named: actor, from: site) }
    #endif
    return deliver(box) ? .called : .dead
  }
}

/// A body that receives and awaits clients.
private struct AwaitedContent<Listener: Sendable>: PostContent {
  let body: @isolated(any) @Sendable (Listener) async -> Void

  var isAwaited: Bool { true }

  func call(_ box: WeakBox, of list: ClientList, on occasion: CallOccasion) -> CallOutcome {
    box.load() == nil ? .dead : .awaits(.client(box.identity))
  }

  func callAwaiting(_ registration: Registration, letter: UInt64, in list: ClientList) async {
    guard let client = list.client(of: registration, as: Listener.self) else { return }
    await body(client.listener)
    extendLifetime(client)
  }
}
