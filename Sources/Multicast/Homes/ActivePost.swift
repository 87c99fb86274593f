/// A post whose clients are being called on this thread.
///
/// Posts that these clients make through the same office are enqueued here, and delivered after the calls. So
/// an effect follows its cause and is never nested in it.
///
/// The structure lives in a stack frame. A copy would retain everything that it refers to.
@usableFromInline
struct ActivePost: ~Copyable {
  /// When a post was made: the number of the next registration, and that of replaced ones.
  typealias Moment = (limit: UInt64, moves: Int)

  /// The moment of a post that is being made.
  static var now: Moment { (.max, .max) }

  struct Pending {
    let post: Post
    let moment: Moment
    let keeper: LatestPost?
    let receipt: Receipt?
  }

  /// Identifies the office that delivers the post. The office outlives it.
  let office: ObjectIdentifier

  /// The mailbox whose letter is being handled. Pending posts do not call clients in that home at once.
  let draining: ObjectIdentifier?

  private(set) var site: CallSite

  /// The post whose call made this one. A post on the heap has its own.
  private let parent: Cause?

  /// The post, once it is on the heap. The code that delivers it, or its letter, keeps it alive.
  private unowned(unsafe) var post: Post?

  /// This post as a cause; nil until it has an effect.
  private var ownCause: Cause?

  var pending: [Pending] = []

  init(office: PostOffice, site: CallSite, parent: Cause?) {
    self.office = ObjectIdentifier(office)
    self.site = site
    self.parent = parent
    draining = nil
  }

  init(office: PostOffice, _ post: Post, draining: Mailbox?) {
    self.office = ObjectIdentifier(office)
    self.draining = draining.map { ObjectIdentifier($0) }
    unsafe self.post = post
    site = post.site
    parent = nil
  }

  mutating func follow(_ post: Post) {
    unsafe self.post = post
    site = post.site
    ownCause = nil
  }

  /// The cause of the posts that are made now.
  mutating func cause() -> Cause {
    if let ownCause { return ownCause }
    let parent = unsafe post == nil ? parent : post?.parent
    let cause = Cause(
      site: site, parent: parent,
      recurrences: unsafe post?.recurrences ?? parent?.recurrences ?? Recurrences())
    ownCause = cause
    return cause
  }

  /// The counter of recurring posts, if this post has one.
  var recurrences: Recurrences? { ownCause?.recurrences }
}
