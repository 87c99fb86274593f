/// A post whose clients are being called on this thread.
///
/// Posts that these clients make through the same office wait here, and are delivered after the calls. So an
/// effect follows its cause and is never nested in it.
///
/// The structure lives in a stack frame. A copy would retain everything that it refers to.
struct ActivePost: ~Copyable {
  /// A post that waits, and the arguments that it does not have itself: see ``Posting``.
  struct Pending {
    let post: Post
    let named: Mailbox?
    let isAwaited: Bool
    let keeper: Keeper?
    var receipt: Receipt?
  }

  /// Identifies the office that delivers the post. The office outlives it.
  let office: ObjectIdentifier

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
  }

  /// A post whose letter is being handled.
  init(office: PostOffice, _ post: Post) {
    self.office = ObjectIdentifier(office)
    unsafe self.post = post
    site = post.site
    parent = nil
  }

  /// The post that a link in a thread's chain points to.
  static func at(_ address: UnsafeMutableRawPointer) -> UnsafeMutablePointer<ActivePost> {
    unsafe address.assumingMemoryBound(to: ActivePost.self)
  }

  /// Continues with a post that waited here.
  mutating func follow(_ post: Post) {
    unsafe self.post = post
    site = post.site
    ownCause = nil
  }

  /// The cause of the posts that are made now.
  mutating func cause() -> Cause {
    if let ownCause { return ownCause }
    let cause =
      unsafe post?.cause
      ?? Cause(site: site, parent: parent, recurrences: parent?.recurrences ?? Recurrences())
    ownCause = cause
    return cause
  }

  /// The counter of recurring posts, if this post has one.
  var recurrences: Recurrences? { ownCause?.recurrences }
}
