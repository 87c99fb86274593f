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

  /// - Parameter post: Nil if nobody is left to be called.
  @usableFromInline
  init(_ post: Post?, clients: Int, of office: PostOffice) {
    self.clients = clients
    self.post = post
    self.office = post == nil ? nil : office
  }

  /// A post that is for nobody.
  @usableFromInline
  init() { (clients, post, office) = (0, nil, nil) }

  /// Returns when all clients and handlers have been called, and awaited if the post awaits.
  ///
  /// It does not wait for what they post in turn. Removed clients are not called, but this still waits until their home is
  /// free. Cancellation does not end the wait.
  ///
  /// A handler that awaits this for a post to itself would wait for itself. It returns at once then, and says so in a debug
  /// build. Handlers that wait for each other wait for ever, as with locks.
  ///
  /// A post that nobody waits for costs no more for this.
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
    if let mailbox = AwaitedCall.currentMailbox, post.isFor(mailbox, of: office) {
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
  /// Resumes a task when the post ends. The caller lets go of the post.
  fileprivate func resumeAtEnd(
    _ continuation: CheckedContinuation<Void, Never>, of office: PostOffice
  ) {
    let waiter = Waiter(continuation, in: office)
    let old = office.withLock { state in
      unsafe self.waiter = waiter
      // The latest post of a topic does not end. So a copy of it is kept.
      guard let latest = unsafe latest?.takeUnretainedValue(), latest.post(&state) === self else {
        return nil as Post?
      }
      return latest.replace(with: copy(), &state)
    }
    extendLifetime(old)
  }

  /// Whether the post left a letter in the mailbox of a task.
  fileprivate func isFor(_ mailbox: ObjectIdentifier, of office: PostOffice) -> Bool {
    roster.boxes.contains { box in
      if case .tasks = destination {
        return office.withLock { $0.isMailbox(mailbox, ofClient: box.identity) }
      }
      return box.home.map { ObjectIdentifier($0) } == mailbox
    }
  }
}
