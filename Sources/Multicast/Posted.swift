/// What a post returns: how many it is for, and a way to wait for them. It may be ignored.
///
/// <!-- example: in Program -->
/// ```swift
/// await center.post(UserProtocol.self) { $0.userLogin(19000) }.delivered()
/// ```
public struct Posted: ~Copyable, Sendable {
  /// The number of clients or handlers that were called or will be, if they live. 0 if the post was refused, because one
  /// post has set off more than 1,000 recurring ones: see <doc:Loops>.
  public let clients: Int

  /// Nil if everybody has been called.
  private let post: Post?
  private let office: PostOffice?

  /// - Parameter posting: Nil for a post that was refused.
  @usableFromInline
  init(_ posting: PostOffice.Posting?, of office: PostOffice?) {
    clients = posting?.clients ?? 0
    post = posting?.post
    self.office = post == nil ? nil : office
  }

  /// Returns when all clients and handlers have been called, and awaited if the post awaits.
  ///
  /// It does not wait for what they post in turn. It waits until every home comes to its calls, also if the clients are
  /// removed meanwhile, who are not called then. Cancellation does not end the wait.
  ///
  /// A handler that awaits this for a post to itself would wait for itself. It returns at once then, and says so in a debug
  /// build. Handlers that wait for each other wait for ever, as with locks.
  ///
  /// Only who calls this pays for it.
  ///
  /// - Returns: The number of clients: see ``clients``.
  @discardableResult
  nonisolated(nonsending) public consuming func delivered() async -> Int {
    let clients = clients
    // Nothing here may hold the post while this waits.
    guard let (post, office) = unsafe take() else { return clients }
    await withCheckedContinuation { continuation in
      let office = unsafe office.takeRetainedValue()
      unsafe post.takeRetainedValue().resumeAtEnd(continuation, of: office)
      office.scheduler?.beginWait(inCall: AwaitedCall.current != nil)
    }
    return clients
  }

  /// The post, retained, and its office; nil if there is nothing to wait for.
  private consuming func take() -> (Unmanaged<Post>, Unmanaged<PostOffice>)? {
    guard let post, let office else { return nil }
    if let lane = AwaitedCall.currentLane, post.isFor(lane: lane, of: office) {
      #if DEBUG
        StandardError.tell(
          of: post.site,
          """
          delivered() was called in a handler for a post to itself, made at \(post.site). It would wait for \
          itself, so it returned at once. Wait in a task of its own.
          """)
      #endif
      return nil
    }
    return unsafe (.passRetained(post), .passRetained(office))
  }
}

extension Post {
  /// Resumes who waits when nothing refers to this post any more but the caller, who lets go of it.
  fileprivate func resumeAtEnd(
    _ continuation: CheckedContinuation<Void, Never>, of office: PostOffice
  ) {
    let waiter = Waiter(continuation, in: office)
    let old = office.withLock { state in
      unsafe self.waiter = waiter
      // What is kept lives on. So a copy of it is kept.
      return unsafe keeper?._withUnsafeGuaranteedRef { keeper in
        keeper.latest(&state) === self ? keeper.replace(with: copy(), &state) : nil
      }
    }
    extendLifetime(old)
  }

  /// Whether the post left a letter in a lane.
  fileprivate func isFor(lane: ObjectIdentifier, of office: PostOffice) -> Bool {
    roster.all.boxes.contains { box in
      if case .lanes = destination {
        return box.isRegistered && office.withLock { $0.hasLane(lane, of: box.identity) }
      }
      return box.mailbox.map { ObjectIdentifier($0) } == lane
    }
  }
}
