/// A post whose clients are being called on this thread.
///
/// What is posted in these calls, through the same office, waits here until they are over: effects follow
/// their cause and are never nested in it.
///
/// It lives in a stack frame and is not copied, which would retain all that it refers to.
@usableFromInline
struct ActivePost: ~Copyable {
  /// A post that follows.
  struct Pending {
    let post: any Post

    /// The number that the next registration had when the post was made.
    let limit: UInt64

    /// How many registrations had been replaced then.
    let moves: Int

    let keeper: LatestPost?
    let receipt: Receipt?
  }

  /// The identity of its office, which delivers it and outlives it.
  let office: ObjectIdentifier

  /// The mailbox whose letter this is. What follows is not called in that home at once.
  let draining: ObjectIdentifier?

  private(set) var site: CallSite
  private(set) var parent: Cause?

  /// The post, once it is on the heap: whoever delivers it keeps it.
  private unowned(unsafe) var post: (any Post)?

  /// This post as a cause, once it is one.
  private var ownCause: Cause?

  var pending: [Pending] = []

  init(office: PostOffice, site: CallSite, parent: Cause?) {
    self.office = ObjectIdentifier(office)
    self.site = site
    self.parent = parent
    draining = nil
  }

  init(office: PostOffice, _ post: any Post, draining: Mailbox?) {
    self.office = ObjectIdentifier(office)
    self.draining = draining.map { ObjectIdentifier($0) }
    unsafe self.post = post
    site = post.site
    parent = post.parent
  }

  /// Turns to a post that follows.
  mutating func follow(_ post: any Post) {
    unsafe self.post = post
    site = post.site
    parent = post.parent
    ownCause = nil
  }

  /// What is posted now has this cause.
  mutating func cause() -> Cause {
    if let ownCause { return ownCause }
    let cause = Cause(
      site: site, parent: parent,
      recurrences: unsafe post?.recurrences ?? parent?.recurrences ?? Recurrences())
    ownCause = cause
    return cause
  }

  /// The recurring posts that are counted already, if any.
  var recurrences: Recurrences? { ownCause?.recurrences }
}
