import MulticastPlatform

/// A `notify`, or a run of posts one after the other, that is active on a thread.
///
/// A frame is part of the stack frame of the function that delivers, so a delivery allocates nothing. It points to the frame that
/// it is nested in, which belongs to a caller and outlives it.
@usableFromInline @safe
struct DeliveryFrame {
  /// The list whose listeners are called. Between two posts, it is the office, and while `onRecursion` runs, the guard: no list.
  @usableFromInline var list: ObjectIdentifier

  @usableFromInline var site: CallSite

  /// The delivery that this one is nested in.
  @usableFromInline var outer: UnsafeMutablePointer<DeliveryFrame>?

  /// The chain of this delivery, for ``pop()``.
  @usableFromInline var chain: UnsafeMutablePointer<UnsafeMutablePointer<DeliveryFrame>?>?

  /// The rest of the frame, if it belongs to a post; nil in a `notify`.
  @usableFromInline var postFrame: UnsafeMutablePointer<PostFrame>?

  /// The delivery, if it is reported. The frame of a post keeps it until the next one, so that a client that is destroyed with
  /// the post, and notifies, finds its cause.
  @usableFromInline var reported = ReportedDelivery()

  // These two are small and last, so that a `notify` sets the frame's variables to zero with three instructions.

  /// The number of deliveries of the same list that were nested in this one, three deep or deeper under the outermost one.
  @usableFromInline var nested: Int32 = 0

  /// Whether this thread handles a letter, or a post that the call for a letter has made. The outer frames have not led to
  /// these calls: see ``DeliveryChain/forEachLeading(_:)``.
  @usableFromInline var isFromLetter = false

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

@usableFromInline typealias FramePointer = UnsafeMutablePointer<DeliveryFrame>

/// The deliveries that are active on the current thread: a view of a variable of the thread, which points to the innermost frame.
@safe
struct DeliveryChain {
  let innermost: UnsafeMutablePointer<FramePointer?>

  init() {
    unsafe innermost = UnsafeMutableRawPointer(multicast_thread_slot())
      .assumingMemoryBound(to: FramePointer?.self)
  }

  var isEmpty: Bool { unsafe innermost.pointee == nil }

  /// Makes a frame the innermost one until it is popped. Its address must not change.
  func push(_ frame: FramePointer) {
    unsafe frame.pointee.chain = innermost
    unsafe frame.pointee.outer = innermost.pointee
    unsafe innermost.pointee = frame
  }

  /// The first frame for which `body` returns true, innermost first.
  @discardableResult
  func first(where body: (FramePointer) -> Bool) -> FramePointer? {
    unsafe first(from: innermost.pointee, where: body)
  }

  private func first(
    from start: FramePointer?, where body: (FramePointer) -> Bool
  ) -> FramePointer? {
    var next = unsafe start
    while let frame = unsafe next {
      if unsafe body(frame) { return unsafe frame }
      unsafe next = frame.pointee.outer
    }
    return nil
  }

  /// Calls `body` with the frames that have led to the code that runs now, innermost first.
  ///
  /// These are all frames, up to one of a letter. A thread that posts or observes in a home may find letters of other posts there,
  /// and the frames outside have not caused what the listeners do with those. If the letter's post is being delivered
  /// further out, because the thread runs in several homes, its delivery is the frame that has led here.
  ///
  /// For example, a `notify` N calls a client that posts A, and this thread finds a letter in its home, whose listener runs
  /// now. If it is a letter of another post B, the stack is N, A, letter of B, and this visits that letter alone. If it is one
  /// of A itself, in a second home of this thread, the stack is N, A, letter of A, and this visits A and then N.
  ///
  /// A known limit: if the second home was busy until this thread delivers a post F that follows A, the stack is N, F, letter of
  /// A, and this visits that letter alone. To find A, the frame would have to remember every post that it has delivered. A loop
  /// that is missed because of this needs a busy home in each round.
  ///
  /// - Returns: Whether the visit has reached the outermost frame, so that what has led to the stack has led here, too.
  func forEachLeading(_ body: (FramePointer) -> Void) -> Bool {
    var next = unsafe innermost.pointee
    while let frame = unsafe next {
      unsafe next = frame.pointee.outer
      if unsafe frame.pointee.isFromLetter {
        let post = unsafe frame.pointee.postFrame?.pointee.post?.toOpaque()
        let delivery = unsafe first(from: next) { outer in
          unsafe post != nil && outer.pointee.postFrame?.pointee.post?.toOpaque() == post
        }
        guard let delivery = unsafe delivery else {
          unsafe body(frame)
          return false
        }
        unsafe next = delivery
      } else {
        unsafe body(frame)
      }
    }
    return true
  }

  /// Passes the posts that this thread is delivering or has still to deliver to `body`.
  func forEachPost(_ body: (Post) -> Void) {
    unsafe first { frame in
      unsafe frame.pointee.postFrame?.pointee.forEachPost(body)
      return false
    }
  }

  /// The outermost frame of an office's posts, in which further posts wait for their turn; nil if there is none.
  func outermostPostFrame(of office: ObjectIdentifier) -> FramePointer? {
    var outermost: FramePointer?
    unsafe first { frame in
      if unsafe frame.pointee.postFrame?.pointee.office == office { unsafe outermost = frame }
      return false
    }
    return unsafe outermost
  }

  /// Whether a frame has led to the code that runs now.
  func isLed(by outer: FramePointer) -> Bool {
    var isLed = false
    _ = unsafe forEachLeading { frame in if unsafe frame == outer { isLed = true } }
    return isLed
  }
}

extension Cause {
  /// The cause of a post that is made now: the post that is calling this code, of whichever center.
  static var current: Cause? {
    var cause: Cause?
    unsafe DeliveryChain().first { frame in
      cause = unsafe frame.cause
      return cause != nil
    }
    return cause ?? AwaitedCall.current?.cause
  }
}
