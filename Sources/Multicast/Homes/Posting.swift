/// One post, as its poster gives it to the office. Not copied, which would retain all that it refers to.
struct Posting: ~Copyable {
  let list: ClientList
  let site: CallSite

  /// The actor that the post is written in.
  let isolation: (any Actor)?

  /// The actor that everybody is to be called in, if the post's body names one.
  let actor: (any Actor)?

  /// Whether every call is awaited.
  let isAwaited: Bool

  /// What keeps the post as the latest one of its topic, if that is to be kept.
  let keeper: LatestPost?

  /// What is held until everybody had the post.
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

  /// The same, with somebody who waits.
  borrowing func waited(by receipt: Receipt) -> Posting {
    Posting(
      to: list, from: site, isolation: isolation, actor: actor, isAwaited: isAwaited,
      keeper: keeper,
      receipt: receipt)
  }
}

/// The post that a topic keeps, to begin with it for those who observe later.
final class LatestPost: Sendable {
  private let post = Locked<(any Post)?>(nil)

  var current: (any Post)? { post.withLock { $0 } }

  /// Keeps another post, or none, and returns the one before. Written with the office's lock held.
  func exchange(_ new: (any Post)?) -> (any Post)? {
    post.withLock { post in
      let old = post
      post = new
      return old
    }
  }
}
