// A post as a link of the thread's chain.
//
// A link does not have its post: whoever delivers that has it, and lets go of it with the link in place. What the post holds
// may post in its `deinit`, and that follows the post. But then the post itself is half destroyed. So the link takes the
// post's cause before.

/// A post whose clients are being called on a thread, and its link in the thread's chain.
@safe
struct ActivePost {
  /// First, so that a pointer to it is one to this.
  var link: ActiveDelivery

  /// The post whose clients are being called; nil while it is released. Whoever delivers it has it meanwhile.
  var post: Unmanaged<Post>?

  /// The cause of what is posted while the post is being destroyed. Retained; nil if it has not been asked for.
  var lastCause: Unmanaged<Cause>?

  /// The posts that wait for these calls. Retained.
  var followers: Unmanaged<Followers>?

  /// A post. The caller has it until this ends.
  @inline(__always)
  init(_ post: Post, of office: PostOffice) {
    link = ActiveDelivery(list: ObjectIdentifier(post.list), site: post.site)
    link.office = ObjectIdentifier(office)
    unsafe self.post = .passUnretained(post)
  }

  /// A link before its first post.
  @inline(__always)
  init(of office: PostOffice) {
    link = ActiveDelivery(list: ObjectIdentifier(office), site: CallSite())
    link.office = ObjectIdentifier(office)
  }
}

/// The posts that wait for the calls of another one.
final class Followers {
  fileprivate var posts = WaitingQueue<Post>()
}

// Methods of the pointer, because others may change the link while they run.
extension UnsafeMutablePointer<ActivePost> {
  var link: UnsafeMutablePointer<ActiveDelivery> {
    unsafe UnsafeMutableRawPointer(self).assumingMemoryBound(to: ActiveDelivery.self)
  }

  /// Shows the post whose clients are being called now.
  @inline(__always)
  func set(_ post: Unmanaged<Post>) {
    unsafe dropLastCause()
    unsafe pointee.post = post
    unsafe pointee.link.nested = 0
    unsafe post._withUnsafeGuaranteedRef { post in
      unsafe pointee.link.list = ObjectIdentifier(post.list)
      unsafe pointee.link.site = post.site
    }
  }

  /// Releases the post of this link.
  @inline(__always)
  func release(_ post: Unmanaged<Post>) {
    unsafe pointee.lastCause = post._withUnsafeGuaranteedRef { unsafe $0.ownCause?.retain() }
    unsafe pointee.post = nil
    unsafe post.release()
  }

  /// The cause of the posts that are made now.
  var cause: Cause {
    if let post = unsafe pointee.post { return unsafe post._withUnsafeGuaranteedRef { $0.cause } }
    if let cause = unsafe pointee.lastCause { return unsafe cause.takeUnretainedValue() }
    let cause = unsafe Cause(site: pointee.link.site, parent: nil)
    unsafe pointee.lastCause = .passRetained(cause)
    return cause
  }

  @inline(__always)
  private func dropLastCause() {
    guard let cause = unsafe pointee.lastCause else { return }
    unsafe pointee.lastCause = nil
    unsafe cause.release()
  }

  /// Makes a post wait. Returns whether it is the first one.
  func append(_ post: Post) -> Bool {
    let isFirst = unsafe pointee.followers == nil
    if isFirst { unsafe pointee.followers = .passRetained(Followers()) }
    unsafe pointee.followers?._withUnsafeGuaranteedRef { $0.posts.append(post) }
    return isFirst
  }

  /// The next post that waits here, retained.
  @inline(__always)
  func takeFollower() -> Unmanaged<Post>? {
    unsafe pointee.followers.flatMap {
      unsafe $0._withUnsafeGuaranteedRef {
        unsafe $0.posts.popFirst().map { unsafe .passRetained($0) }
      }
    }
  }

  /// Forgets what waited here. Returns whether anything did. Call it once, after the last call.
  @inline(__always)
  func end() -> Bool {
    unsafe dropLastCause()
    guard let followers = unsafe pointee.followers else { return false }
    unsafe followers.release()
    return true
  }
}

extension UnsafeMutablePointer<ActiveDelivery> {
  /// The post that this links; nil in a `notify`.
  fileprivate var post: UnsafeMutablePointer<ActivePost>? {
    guard unsafe pointee.office != nil else { return nil }
    return unsafe UnsafeMutableRawPointer(self).assumingMemoryBound(to: ActivePost.self)
  }
}

extension DeliveryChain {
  /// The innermost post on this thread, of one office or of any.
  func innermostPost(of office: ObjectIdentifier?) -> UnsafeMutablePointer<ActivePost>? {
    unsafe first { active in
      unsafe active.pointee.office != nil && (office == nil || active.pointee.office == office)
    }?.post
  }

  /// The outermost post of an office on this thread, where its posts wait.
  func outermostPost(of office: ObjectIdentifier) -> UnsafeMutablePointer<ActivePost>? {
    var outermost: UnsafeMutablePointer<ActiveDelivery>?
    unsafe first { active in
      if unsafe active.pointee.office == office { unsafe outermost = active }
      return false
    }
    return unsafe outermost?.post
  }

  /// Whether a post is being delivered on this thread.
  @inline(__always)
  func isDelivering(_ post: Unmanaged<Post>) -> Bool {
    unsafe first { active in unsafe active.post?.pointee.post?.toOpaque() == post.toOpaque() }
      != nil
  }
}
