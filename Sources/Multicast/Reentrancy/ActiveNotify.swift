/// A synchronous notify that is delivering: a link in the chain of its thread.
///
/// It lives in the stack frame of the method that delivers, so that entering a notify allocates
/// nothing, and `outer` points to a frame further down the same stack, which outlives it.
@usableFromInline
@safe
struct ActiveNotify {
  @usableFromInline
  let list: ObjectIdentifier

  @usableFromInline
  let site: CallSite

  @usableFromInline
  var outer: UnsafeMutablePointer<ActiveNotify>?

  @inlinable
  init(list: ObjectIdentifier, site: CallSite) {
    self.list = list
    self.site = site
    unsafe outer = nil
  }
}

extension ActiveNotify {
  /// The innermost active notify of each thread.
  private static let innermostOfThread = ThreadSpecificPointer()

  private(set) static var innermost: UnsafeMutablePointer<ActiveNotify>? {
    get { unsafe innermostOfThread.value?.assumingMemoryBound(to: ActiveNotify.self) }
    set { unsafe innermostOfThread.value = UnsafeMutableRawPointer(newValue) }
  }

  /// Makes a link the innermost of this thread, until it is popped.
  static func push(_ link: UnsafeMutablePointer<ActiveNotify>) {
    unsafe link.pointee.outer = innermost
    unsafe innermost = link
  }

  static func pop(_ link: UnsafeMutablePointer<ActiveNotify>) {
    unsafe innermost = link.pointee.outer
  }

  /// Calls `body` with the active notifies of this thread, innermost first.
  static func forEachOfThread(_ body: (ActiveNotify) -> Void) {
    var next = unsafe innermost
    while let active = unsafe next {
      unsafe body(active.pointee)
      unsafe next = active.pointee.outer
    }
  }
}
