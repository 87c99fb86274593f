/// The arguments of one post. A copy would retain everything that it refers to.
struct Posting: ~Copyable {
  let list: ClientList
  let site: CallSite
  let isolation: (any Actor)?

  /// The actor that the body names, if any. All clients are called there.
  let actor: (any Actor)?

  /// Whether calls are awaited.
  let isAwaited: Bool

  /// Keeps the post as its topic's latest message; nil if the topic keeps none.
  let keeper: LatestPost?

  /// Released when every client has received the post.
  let receipt: Receipt?

  init(
    to list: ClientList, from site: CallSite, isolation: (any Actor)?, actor: (any Actor)? = nil,
    isAwaited: Bool = false, keeper: LatestPost? = nil, receipt: Receipt? = nil
  ) {
    self.list = list
    self.site = site
    self.isolation = isolation
    self.actor = actor
    self.isAwaited = isAwaited
    self.keeper = keeper
    self.receipt = receipt
  }

  /// The same post with a receipt.
  borrowing func waited(by receipt: Receipt) -> Posting {
    Posting(
      to: list, from: site, isolation: isolation, actor: actor, isAwaited: isAwaited,
      keeper: keeper, receipt: receipt)
  }
}

/// A topic's latest post, for later observers.
final class LatestPost: Sendable {
  private let post = Locked<Post?>(nil)

  var current: Post? { post.withLock { $0 } }

  /// Replaces the post and returns the previous one. The office's lock is held.
  func exchange(_ new: Post?) -> Post? {
    post.withLock { post in
      let old = post
      post = new
      return old
    }
  }
}
