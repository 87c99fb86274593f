import MulticastPlatform

/// An active delivery on a thread: a link in the thread's chain.
///
/// It lives in the stack frame of the method that delivers, so a delivery allocates nothing. `outer` points
/// to an earlier frame of the same stack, which outlives this one.
@usableFromInline @safe
struct ActiveDelivery {
  @usableFromInline var list: ObjectIdentifier

  @usableFromInline var site: CallSite

  /// The delivery that this one is nested in.
  @usableFromInline var outer: UnsafeMutablePointer<ActiveDelivery>?

  /// The chain of this delivery, for ``pop()``.
  @usableFromInline var chain: UnsafeMutablePointer<UnsafeMutablePointer<ActiveDelivery>?>?

  /// Identifies the office of a post, which outlives it; nil in a `notify`.
  @usableFromInline var office: ObjectIdentifier?

  /// Whether a letter of another delivery is being handled. It is the first of what it causes, wherever on a stack it is
  /// handled.
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

/// The active deliveries of the current thread: a view of the thread's slot, which points to the innermost one.
@safe
struct DeliveryChain {
  let innermost: UnsafeMutablePointer<UnsafeMutablePointer<ActiveDelivery>?>

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

  /// The first active delivery for which `body` returns true, innermost first.
  @discardableResult
  func first(
    where body: (UnsafeMutablePointer<ActiveDelivery>) -> Bool
  ) -> UnsafeMutablePointer<ActiveDelivery>? {
    var next = unsafe innermost.pointee
    while let active = unsafe next {
      if unsafe body(active) { return unsafe active }
      unsafe next = active.pointee.outer
    }
    return nil
  }
}
