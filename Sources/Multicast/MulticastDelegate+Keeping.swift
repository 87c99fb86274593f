extension MulticastDelegate {
  /// Calls every client in its home, in order, and keeps the call for clients that are added later.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// delegates.post(keeping: "user") { $0.userLogin(19000) }
  /// ```
  ///
  /// A client that is added later is called with it first, in its home, before anything that is posted
  /// afterwards. None is missing, none comes twice, and none is out of order, whatever other threads post
  /// meanwhile. The last post under an id replaces the one before it. With several ids, a client is called in
  /// the order of their last posts.
  ///
  /// `add` returns before such a client is called in its home, so a client may add itself in its `init`. A client
  /// without a home is called before `add` returns, on the thread that adds it.
  ///
  /// What `body` captures lives as long as it is kept: until it is replaced, or removed with
  /// ``removeKept(_:)`` or ``removeAll()``.
  ///
  /// Otherwise, this is like `post`. Once a list has kept a post, all posts call its clients without a home on
  /// one thread at a time. A post that finds another thread calling there leaves its calls to that thread.
  ///
  /// - Parameters:
  ///   - id: Distinguishes the posts that are kept. Compared by `==`, with no lock held.
  ///   - isolation: The actor that this is called in.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives each client that is registered now, and each one that is added later.
  /// - Returns: The number of clients that were called or will be, without later ones. 0 if the call was refused,
  ///   because one call has set off more than 1,000 recurring ones: see <doc:Loops>. It is not kept then.
  /// - Complexity: O(*n* + *k*) for *k* ids.
  @discardableResult
  @inlinable
  public func post(
    keeping id: some Hashable & Sendable, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) -> Void
  ) -> Int {
    let actor = body.isolation
    let function = IsolatedFunction(body).callable
    let site = CallSite(fileID: fileID, line: line, column: column)
    return post(keeping: id, from: site, isolation: isolation, actor: actor) { box, _, _ in
      Self.call(box, function)
    }
  }

  /// Calls every client on the main actor, in order, and keeps the call for clients that are added later.
  ///
  /// <!-- example: in Screens -->
  /// ```swift
  /// screens.postOnMain(keeping: "progress") { $0.downloadDidProgress(to: 50) }
  /// ```
  ///
  /// Use it from any thread for clients of a `@MainActor` protocol. A client that is added later is called with it
  /// first, on the main actor, after `add` has returned. Everything else is as with
  /// ``post(keeping:isolation:fileID:line:column:_:)``.
  ///
  /// - Parameters:
  ///   - id: Distinguishes the posts that are kept.
  ///   - isolation: The actor that this is called in.
  ///   - fileID: The call site's file. A wrapper passes its caller's on: see ``CallSite``.
  ///   - line: The call site's line.
  ///   - column: The call site's column.
  ///   - body: Receives each client that is registered now, and each one that is added later.
  /// - Returns: The number of clients that were called or will be, without later ones. 0 if the call was refused.
  /// - Complexity: O(*n* + *k*) for *k* ids.
  @discardableResult
  @inlinable
  public func postOnMain(
    keeping id: some Hashable & Sendable, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @MainActor @Sendable (Listener) -> Void
  ) -> Int {
    post(keeping: id, isolation: isolation, fileID: fileID, line: line, column: column, body)
  }

  /// Removes the post that is kept under an id. Later clients are not called with it.
  ///
  /// Clients that it has reached, or waits for, are called nevertheless. Called by a client that is being called
  /// with it, it removes it, too.
  ///
  /// - Parameter id: The id that the post was made with.
  /// - Returns: Whether one was kept.
  /// - Complexity: O(*k*) for *k* ids.
  @discardableResult
  public func removeKept(_ id: some Hashable & Sendable) -> Bool {
    keptPosts.load()?.remove(id) ?? false
  }

  @usableFromInline
  func post(
    keeping id: any Hashable & Sendable, from site: CallSite, isolation: (any Actor)?,
    actor: (any Actor)?, call: @escaping Post.Call
  ) -> Int {
    let kept = keptPosts.load() ?? keptPosts.storeIfNil(KeptPosts(in: office))
    // Before the first post is kept, so every client is either in its audience or begins with it.
    clientList.keepPosts(homeless: kept.homeless)
    return kept.withKeeper(of: id) { keeper in
      office.post(
        Posting(
          to: clientList, from: site, isolation: isolation.map { ObjectIdentifier($0) },
          named: actor.map { office.mailbox(of: $0) }, keeper: keeper),
        subject: .listener(Listener.self),
        // A kept post is letters only.
        call: { _, _ in .skipped },
        make: { posting, origin in
          Self.makePost(posting, origin, named: actor, call: call)
        }) ?? 0
    }
  }

  /// Adds a client to a list that keeps posts. Leaves them for it at the same moment, so all later posts follow.
  func addBeginning(_ client: AnyObject, bits: UnsafeRawPointer, in mailbox: Mailbox?) -> Bool {
    guard let kept = keptPosts.load() else { return false }
    while true {
      let (placement, leftovers) = office.begin { state in
        let (placement, leftovers) = unsafe clientList.addHandingOut(
          client, bits: bits, at: mailbox)
        guard case .added(let number) = placement else { return ((placement, leftovers), []) }
        let registration = Registration(
          identity: ObjectIdentifier(client).address, number: number)
        let letters = kept.latest(&state).map { post in
          (post.mailbox ?? mailbox ?? kept.homeless, post.letter(to: registration))
        }
        return ((placement, leftovers), letters)
      }
      clientList.finish(leftovers)
      if let placement {
        if case .added = placement { return true }
        return false
      }
      clientList.makeRoom()
    }
  }
}
