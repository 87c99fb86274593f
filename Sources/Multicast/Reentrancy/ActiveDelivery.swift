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

  /// The post whose clients are being called; nil in a `notify`.
  @usableFromInline
  var post: UnsafeMutablePointer<ActivePost>?

  @inlinable
  init(list: ObjectIdentifier, site: CallSite) {
    self.list = list
    self.site = site
    unsafe outer = nil
    unsafe chain = nil
    unsafe post = nil
  }
}

/// The active deliveries of a thread: a view of the pointer to the innermost one.
@safe
struct DeliveryChain {
  private let innermost: UnsafeMutablePointer<UnsafeMutablePointer<ActiveDelivery>?>

  static let ofThreads = ThreadSpecificPointer<ActiveDelivery>()

  init(_ threads: ThreadSpecificPointer<ActiveDelivery>) {
    unsafe innermost = threads.address
  }

  var isEmpty: Bool { unsafe innermost.pointee == nil }

  /// Makes a delivery the innermost one until it is popped. Its address must not change.
  func push(_ delivery: UnsafeMutablePointer<ActiveDelivery>) {
    unsafe delivery.pointee.chain = innermost
    unsafe delivery.pointee.outer = innermost.pointee
    unsafe innermost.pointee = delivery
  }

  func forEach(_ body: (ActiveDelivery) -> Void) {
    var next = unsafe innermost.pointee
    while let active = unsafe next {
      unsafe body(active.pointee)
      unsafe next = active.pointee.outer
    }
  }

  /// The innermost post of any office on this thread.
  func innermostPost() -> UnsafeMutablePointer<ActivePost>? {
    var next = unsafe innermost.pointee
    while let active = unsafe next {
      if let post = unsafe active.pointee.post { return unsafe post }
      unsafe next = active.pointee.outer
    }
    return nil
  }

  /// The innermost post of an office on this thread.
  func innermostPost(of office: PostOffice) -> UnsafeMutablePointer<ActivePost>? {
    var next = unsafe innermost.pointee
    while let active = unsafe next {
      if let post = unsafe active.pointee.post,
        unsafe post.pointee.office == ObjectIdentifier(office)
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
