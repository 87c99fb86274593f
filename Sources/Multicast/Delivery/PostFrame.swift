/// The part of a frame that only posts need.
///
/// One frame delivers several posts, one after the other: the first one, and those that follow it.
@usableFromInline @safe
struct PostFrame: ~Copyable {
  let office: ObjectIdentifier

  /// The actor in which the code that made the first post is written; nil if there is none. This thread runs there until the frame
  /// ends.
  let isolation: ObjectIdentifier?

  /// The post that is being delivered; nil before the first one, and while one is being finished. The frame does not retain it: the
  /// function that delivers it does.
  fileprivate(set) var post: Unmanaged<Post>?

  /// The cause of what is posted while a post is being finished. A client that is destroyed then may post in its `deinit`, when
  /// the post itself is half destroyed. Retained; nil if no post has asked for it.
  fileprivate var lastCause: Unmanaged<Cause>?

  /// The posts that wait for the calls of this frame; nil if there have been none. Only the outermost frame of an office has
  /// followers. An inner one handles letters in the middle of another post, and what follows there would be nested in that.
  ///
  /// Retained. As an optional reference, it would cost each post a release of nil.
  private var followers: Unmanaged<Followers>?

  init(office: ObjectIdentifier, in isolation: ObjectIdentifier?) {
    self.office = office
    self.isolation = isolation
  }

  deinit {
    unsafe lastCause?.release()
    unsafe followers?.release()
  }

  /// Lets a post follow.
  ///
  /// - Parameter isFromLetter: Whether the call for a letter has made it, so that this frame has not led to it.
  mutating func addFollower(_ post: Post, isFromLetter: Bool) {
    if unsafe followers == nil { unsafe followers = .passRetained(Followers()) }
    unsafe followers?._withUnsafeGuaranteedRef { $0.posts.append((post, isFromLetter)) }
  }

  /// Takes the next post, retained.
  @inline(__always)
  mutating func takeFollower() -> (post: Unmanaged<Post>, isFromLetter: Bool)? {
    guard let followers = unsafe followers else { return nil }
    return unsafe followers._withUnsafeGuaranteedRef { followers in
      unsafe followers.posts.popFirst().map { unsafe (.passRetained($0.post), $0.isFromLetter) }
    }
  }

  /// Passes the post that is being delivered, and those that follow it, to `body`.
  func forEachPost(_ body: (Post) -> Void) {
    unsafe post?._withUnsafeGuaranteedRef(body)
    unsafe followers?._withUnsafeGuaranteedRef { followers in
      for (post, _) in followers.posts.all { body(post) }
    }
  }

  @inline(__always)
  fileprivate mutating func setLastCause(_ cause: Cause?) {
    if let lastCause = unsafe lastCause { unsafe lastCause.release() }
    unsafe lastCause = cause.map { unsafe .passRetained($0) }
  }
}

/// An object, because few frames have any followers.
private final class Followers {
  var posts = WaitingQueue<(post: Post, isFromLetter: Bool)>()
}

// Methods of pointers, because the calls that they make change the frame, too.
extension FramePointer {
  /// Sets the post of this frame while `body` calls the post's listeners. Then finishes this part of the post, and releases the
  /// post, which the caller has retained.
  ///
  /// - Parameter isFromLetter: For the loop guard and for reports: see ``DeliveryFrame/isFromLetter``.
  @inline(__always)
  func callAndFinishPart<Result>(
    of post: Unmanaged<Post>, isFromLetter: Bool, _ body: (Post) -> Result
  ) -> Result {
    let postFrame = unsafe pointee.postFrame.unsafelyUnwrapped
    let result = unsafe post._withUnsafeGuaranteedRef { borrowed in
      unsafe pointee.isFromLetter = isFromLetter
      unsafe pointee.list = ObjectIdentifier(borrowed.list)
      unsafe pointee.site = borrowed.site
      unsafe pointee.nested = 0
      unsafe postFrame.pointee.post = post
      let result = body(borrowed)
      unsafe postFrame.pointee.post = nil
      // The list may be destroyed with the post. One that is made then may have its address, and is not nested in this delivery.
      unsafe pointee.list = postFrame.pointee.office
      unsafe postFrame.pointee.setLastCause(borrowed.knownCause)
      return result
    }
    unsafe Post.finishPart(of: post)
    return result
  }

  /// The post of this frame as the cause of others; nil in the frame of a `notify`.
  var cause: Cause? {
    guard let postFrame = unsafe pointee.postFrame else { return nil }
    if let post = unsafe postFrame.pointee.post {
      return unsafe post._withUnsafeGuaranteedRef(\.cause)
    }
    if let cause = unsafe postFrame.pointee.lastCause { return unsafe cause.takeUnretainedValue() }
    let cause = unsafe Cause(site: pointee.site, parent: nil)
    unsafe postFrame.pointee.setLastCause(cause)
    return cause
  }
}
