import MulticastPlatform

/// A delivery under way on a thread: one frame of the thread's chain.
///
/// It lives in the stack frame of the function that delivers, so a delivery allocates nothing. `outer` points
/// to an earlier frame of the same stack, which outlives this one.
@usableFromInline @safe
struct DeliveryFrame {
  @usableFromInline var list: ObjectIdentifier

  @usableFromInline var site: CallSite

  /// The delivery that this one is nested in.
  @usableFromInline var outer: UnsafeMutablePointer<DeliveryFrame>?

  /// The chain of this delivery, for ``pop()``.
  @usableFromInline var chain: UnsafeMutablePointer<UnsafeMutablePointer<DeliveryFrame>?>?

  /// What a post has beside, in the same stack frame; nil in a `notify`.
  @usableFromInline var post: UnsafeMutablePointer<PostFrame>?

  /// Whether a letter of another delivery is being handled. The outer frames have not caused it, so a search for loops stops
  /// here.
  @usableFromInline var isLetter = false

  /// The number of deliveries of the same list that were nested in this one, three deep or deeper under the outermost one.
  @usableFromInline var nested = 0

  @inlinable
  init(list: ObjectIdentifier, site: CallSite) {
    self.list = list
    self.site = site
  }

  /// Removes the innermost delivery from its chain, on the thread that pushed it.
  @inlinable
  func pop() {
    unsafe chain?.pointee = outer
  }
}

/// What the frame of a post has beside that of a `notify`.
///
/// The function that delivers a post lets go of it with the frame in place. What the post holds may post in a `deinit`, and that
/// follows. But then the post is half destroyed, so the frame has its cause.
@usableFromInline @safe
struct PostFrame: ~Copyable {
  let office: ObjectIdentifier

  /// The post that is calling, which this does not retain; nil while it is released.
  fileprivate var post: Unmanaged<Post>?

  /// The cause of the posts that are made while the post is released. Retained; nil if it has not been asked for.
  fileprivate var lastCause: Unmanaged<Cause>?

  /// The posts that wait for these calls, in the outermost frame of an office; nil if none has waited. In inner frames, letters
  /// are handled, and an effect must not be nested in another post.
  ///
  /// Retained, as the cause is. The end of an optional reference would cost each post a release of nothing.
  private var followers: Unmanaged<Followers>?

  init(office: ObjectIdentifier) { self.office = office }

  deinit {
    unsafe lastCause?.release()
    unsafe followers?.release()
  }

  /// Whether any post has waited here.
  var hasFollowers: Bool { unsafe followers != nil }

  /// Takes the next post that has waited. The caller lets go of it.
  @inline(__always)
  func takeFollower() -> Unmanaged<Post>? {
    guard let followers = unsafe followers else { return nil }
    return unsafe followers._withUnsafeGuaranteedRef { followers in
      unsafe followers.posts.popFirst().map { unsafe .passRetained($0) }
    }
  }

  /// Makes a post wait. Returns whether it is the first one.
  mutating func append(_ post: Post) -> Bool {
    let isFirst = unsafe followers == nil
    if isFirst { unsafe followers = .passRetained(Followers()) }
    unsafe followers?._withUnsafeGuaranteedRef { $0.posts.append(post) }
    return isFirst
  }

  @inline(__always)
  fileprivate mutating func setLastCause(_ cause: Cause?) {
    if let lastCause = unsafe lastCause { unsafe lastCause.release() }
    unsafe lastCause = cause.map { unsafe .passRetained($0) }
  }
}

/// An object, because few frames have any.
private final class Followers {
  var posts = WaitingQueue<Post>()
}

// Methods of pointers, because others may change the frame while they run.
extension UnsafeMutablePointer<DeliveryFrame> {
  /// Shows a post while `body` calls its clients, and then lets go of the post, which the caller has retained.
  ///
  /// The post is borrowed meanwhile. What it holds may post in a `deinit`, and that follows it.
  @inline(__always)
  func call<Result>(with post: Unmanaged<Post>, _ body: (Post) -> Result) -> Result {
    let frame = unsafe pointee.post.unsafelyUnwrapped
    let result = unsafe post._withUnsafeGuaranteedRef { borrowed in
      unsafe pointee.list = ObjectIdentifier(borrowed.list)
      unsafe pointee.site = borrowed.site
      unsafe pointee.nested = 0
      unsafe frame.pointee.post = post
      unsafe frame.pointee.setLastCause(nil)
      let result = body(borrowed)
      unsafe frame.pointee.post = nil
      unsafe frame.pointee.setLastCause(borrowed.ownCause)
      return result
    }
    unsafe post.release()
    return result
  }

  /// The post that is calling in this frame, as the cause of others; nil in the frame of a `notify`.
  fileprivate var cause: Cause? {
    guard let frame = unsafe pointee.post else { return nil }
    if let post = unsafe frame.pointee.post { return unsafe post._withUnsafeGuaranteedRef(\.cause) }
    if let cause = unsafe frame.pointee.lastCause { return unsafe cause.takeUnretainedValue() }
    let cause = unsafe Cause(site: pointee.site, parent: nil)
    unsafe frame.pointee.setLastCause(cause)
    return cause
  }
}

/// The active deliveries of the current thread: a view of the thread's slot, which points to the innermost one.
@safe
struct DeliveryChain {
  let innermost: UnsafeMutablePointer<UnsafeMutablePointer<DeliveryFrame>?>

  init() {
    unsafe innermost = UnsafeMutableRawPointer(multicast_thread_slot())
      .assumingMemoryBound(to: UnsafeMutablePointer<DeliveryFrame>?.self)
  }

  var isEmpty: Bool { unsafe innermost.pointee == nil }

  /// Makes a delivery the innermost one until it is popped. Its address must not change.
  func push(_ delivery: UnsafeMutablePointer<DeliveryFrame>) {
    unsafe delivery.pointee.chain = innermost
    unsafe delivery.pointee.outer = innermost.pointee
    unsafe innermost.pointee = delivery
  }

  /// The first active delivery for which `body` returns true, innermost first.
  @discardableResult
  func first(
    where body: (UnsafeMutablePointer<DeliveryFrame>) -> Bool
  ) -> UnsafeMutablePointer<DeliveryFrame>? {
    var next = unsafe innermost.pointee
    while let frame = unsafe next {
      if unsafe body(frame) { return unsafe frame }
      unsafe next = frame.pointee.outer
    }
    return nil
  }

  /// The post that is calling on this thread.
  @inline(__always)
  fileprivate var cause: Cause? {
    unsafe first { unsafe $0.pointee.post != nil }?.cause
  }

  /// The outermost post of an office on this thread, where its posts wait.
  func outermostPost(of office: ObjectIdentifier) -> UnsafeMutablePointer<PostFrame>? {
    var outermost: UnsafeMutablePointer<PostFrame>?
    unsafe first { frame in
      if let post = unsafe frame.pointee.post, unsafe post.pointee.office == office {
        unsafe outermost = post
      }
      return false
    }
    return unsafe outermost
  }

  /// Whether a post is being delivered on this thread.
  @inline(__always)
  func isDelivering(_ post: Unmanaged<Post>) -> Bool {
    unsafe first { unsafe $0.pointee.post?.pointee.post?.toOpaque() == post.toOpaque() } != nil
  }
}

extension Cause {
  /// The cause of a post that is made now: the post that is calling this code, of whatever center.
  @inline(__always)
  static var current: Cause? { DeliveryChain().cause ?? AwaitedCall.current?.cause }
}
