/// What a post returns: the number of listeners that it is for, and a way to wait for their calls. You can ignore it.
///
/// <!-- example: in Program -->
/// ```swift
/// await center.post(UserProtocol.self) { $0.userLogin(19000) }.delivered()
/// ```
public struct Posted: ~Copyable, Sendable {
  /// The number of clients or handlers that were called or will be, if they live. 0 if the post was refused, because one
  /// post has set off more than 1,000 recurring ones: see <doc:Loops>.
  public let clients: Int

  /// Nil if all calls have been made.
  private let post: Post?
  private let office: PostOffice?

  /// - Parameter post: Nil if all calls have been made.
  @usableFromInline
  init(_ post: Post?, clients: Int, of office: PostOffice) {
    self.clients = clients
    self.post = post
    self.office = post == nil ? nil : office
  }

  /// What a post to an empty list returns.
  @usableFromInline
  init() {
    clients = 0
    post = nil
    office = nil
  }

  /// Returns when all clients and handlers have been called, and awaited if the post awaits.
  ///
  /// It does not wait for what they post in turn. Removed clients are not called, but this still waits until their home is
  /// free. Cancellation does not end the wait.
  ///
  /// A handler that awaits this for a post to itself would wait for itself, and so would a child task of it. It returns
  /// immediately then, and a debug build prints a message. Handlers that wait for each other wait forever, as with locks.
  ///
  /// A post that no task waits for does not get slower because of this.
  ///
  /// - Returns: The number of clients: see ``clients``.
  @discardableResult
  nonisolated(nonsending) public consuming func delivered() async -> Int {
    let clients = clients
    guard let (post, office) = unsafe takeAwaited() else { return clients }
    await withCheckedContinuation { continuation in
      let office = unsafe office.takeRetainedValue()
      let waiter = Waiter(continuation, in: office)
      // Released here, so that the post is destroyed where its last part is finished, and not after the wait.
      unsafe post.takeRetainedValue().wait(with: waiter)
      office.scheduler?.beginWait(inCall: AwaitedCall.current != nil)
    }
    return clients
  }

  /// The post to wait for and its office, retained; nil if there is nothing to wait for.
  private consuming func takeAwaited() -> (Unmanaged<Post>, Unmanaged<PostOffice>)? {
    guard let post, let office else { return nil }
    if let call = AwaitedCall.current, call.isAddressed(by: post) {
      post.hintThatDeliveredWouldWait()
      return nil
    }
    return unsafe (.passRetained(post), .passRetained(office))
  }
}
