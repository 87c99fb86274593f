/// The result of `post`: the number of clients or handlers, and a way to wait until they have been called.
///
/// <!-- example: in Program -->
/// ```swift
/// await center.post(UserProtocol.self) {
///   $0.userLogin(19000)
/// }.delivered()
/// ```
///
/// You can ignore it.
public struct Posted: ~Copyable, Sendable {
  /// The number of clients or handlers that were called or will be.
  ///
  /// A listener that the post calls directly, without a letter, counts if it is called. One for which it leaves a
  /// letter counts even if it is removed or deallocated before its turn, was deallocated before the post, or skips
  /// the message with `newestOnly`: a home notices the deallocated ones when it handles a post. If `post` is calling
  /// the client or handler that posts, every registered listener counts. A handler does not count if it registers
  /// after the post is made and before its message becomes the topic's latest. The number is 0 if the post was
  /// refused because one post has set off more than 1,000 recurring posts: see <doc:Loops>.
  public let clients: Int

  /// The post and its office; nil if the post was refused, or has left no letter and does not follow another post.
  private let unfinished: (post: Post, office: PostOffice)?

  /// - Parameter post: Nil if there is nothing to wait for.
  init(_ post: Post?, clients: Int, of office: PostOffice) {
    self.clients = clients
    unfinished = post.map { ($0, office) }
  }

  /// What a refused post returns, or one to an empty list.
  @usableFromInline
  init() {
    clients = 0
    unfinished = nil
  }

  /// Waits until all clients or handlers have been called, and awaited if the post awaits.
  ///
  /// It waits for every home to handle its letter. Clients that are removed in the meantime are not called,
  /// but this still waits for their homes. It does not wait for what the clients post in turn:
  /// ``MulticastCenter/settled(within:fileID:line:column:)`` does. Cancellation does not end the wait.
  ///
  /// If the post has left a letter for the handler or client that awaits this, directly or in a child task of
  /// its call, it would wait for itself. Then it returns immediately, and a debug build prints a warning.
  /// Handlers that wait for each other wait forever, as with locks. So does a handler that awaits a post to
  /// itself while an earlier post of the same thread is still being delivered, because its own post has not left
  /// its letters yet.
  ///
  /// A post costs no more for this if you do not call it.
  ///
  /// - Returns: The number of clients or handlers: see ``clients``.
  @discardableResult
  nonisolated(nonsending) public consuming func delivered() async -> Int {
    let clients = clients
    // How the wait ends: see `Waiter`. Both are unmanaged, so that this function owns neither while it waits.
    guard let (post, office) = unsafe postToAwait() else { return clients }
    await withCheckedContinuation { continuation in
      let office = unsafe office.takeRetainedValue()
      let waiter = Waiter(in: office) { _ in continuation.resume() }
      // Released here, so that the post is usually destroyed where its last part is finished, and not after the wait.
      unsafe post.takeRetainedValue().setWaiter(waiter)
      waiter.begin()
    }
    return clients
  }

  /// The post to wait for and its office, retained. Nil if there is nothing to wait for, or if the wait would be for itself.
  private consuming func postToAwait() -> (Unmanaged<Post>, Unmanaged<PostOffice>)? {
    guard let (post, office) = unfinished else { return nil }
    if let call = AwaitedCall.current, call.isAddressed(by: post) {
      post.hintThatDeliveredWouldWait()
      return nil
    }
    return unsafe (.passRetained(post), .passRetained(office))
  }
}
