import MulticastPlatform

/// An active delivery on a thread: a link in the thread's chain.
///
/// It lives in the stack frame of the method that delivers, so a delivery allocates nothing. `outer` points
/// to an earlier frame of the same stack, which outlives this one.
@usableFromInline
@safe
struct ActiveDelivery {
  @usableFromInline
  var list: ObjectIdentifier

  @usableFromInline
  var site: CallSite

  /// The delivery that this one is nested in.
  @usableFromInline
  var outer: UnsafeMutablePointer<ActiveDelivery>?

  /// The chain of this delivery, for ``pop()``.
  @usableFromInline
  var chain: UnsafeMutablePointer<UnsafeMutablePointer<ActiveDelivery>?>?

  /// The post whose clients are being called, which who posts knows more of; nil in a `notify`.
  @usableFromInline
  var post: UnsafeMutableRawPointer?

  /// Identifies who posts; nil in a `notify`.
  @usableFromInline
  var poster: ObjectIdentifier?

  /// The place where a letter is being handled; nil otherwise. A letter is the first of what it causes,
  /// wherever on a stack it is handled.
  @usableFromInline
  var letter: StackPlace?

  @inlinable
  init(list: ObjectIdentifier, site: CallSite) {
    self.list = list
    self.site = site
    unsafe outer = nil
    unsafe chain = nil
    unsafe post = nil
    poster = nil
  }
}

/// The active deliveries of the current thread: a view of the thread's slot, which points to the innermost one.
@safe
struct DeliveryChain {
  private let innermost: UnsafeMutablePointer<UnsafeMutablePointer<ActiveDelivery>?>

  init() {
    unsafe innermost = UnsafeMutableRawPointer(multicast_thread_slot())
      .assumingMemoryBound(to: UnsafeMutablePointer<ActiveDelivery>?.self)
  }

  var isEmpty: Bool { unsafe innermost.pointee == nil }

  /// Makes a delivery the innermost one until it is popped. Its address must not change.
  func push(_ delivery: UnsafeMutablePointer<ActiveDelivery>) {
    unsafe delivery.pointee.chain = innermost
    unsafe delivery.pointee.outer = innermost.pointee
    unsafe innermost.pointee = delivery
  }

  /// Calls `body` with the active deliveries, innermost first, up to the letter that is being handled, if any.
  /// Returns that letter's place.
  @discardableResult
  func forEach(_ body: (ActiveDelivery) -> Void) -> StackPlace? {
    var next = unsafe innermost.pointee
    while let active = unsafe next {
      unsafe body(active.pointee)
      if let letter = unsafe active.pointee.letter { return letter }
      unsafe next = active.pointee.outer
    }
    return nil
  }

  /// The innermost post on this thread, of one poster or of any.
  func innermostPost(of poster: ObjectIdentifier?) -> UnsafeMutableRawPointer? {
    var next = unsafe innermost.pointee
    while let active = unsafe next {
      if let post = unsafe active.pointee.post,
        unsafe poster == nil || active.pointee.poster == poster
      {
        return unsafe post
      }
      unsafe next = active.pointee.outer
    }
    return nil
  }
}

extension ActiveDelivery {
  /// Removes the innermost delivery from its chain, on the thread that pushed it.
  @inlinable
  func pop() {
    unsafe chain?.pointee = outer
  }
}
