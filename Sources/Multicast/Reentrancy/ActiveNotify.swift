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

  /// The notify that this one is nested in.
  @usableFromInline
  var outer: UnsafeMutablePointer<ActiveNotify>?

  /// The chain that this notify is in, so that the way out need not look for it.
  @usableFromInline
  var chain: UnsafeMutablePointer<UnsafeMutablePointer<ActiveNotify>?>?

  @inlinable
  init(list: ObjectIdentifier, site: CallSite) {
    self.list = list
    self.site = site
    unsafe outer = nil
    unsafe chain = nil
  }
}

/// The notifies that are active on a thread: a view of the place where the thread keeps the innermost.
@safe
struct NotifyChain {
  private let innermost: UnsafeMutablePointer<UnsafeMutablePointer<ActiveNotify>?>

  /// Finds each thread's chain.
  static let ofThreads = ThreadSpecificPointer<ActiveNotify>()

  init(_ threads: ThreadSpecificPointer<ActiveNotify>) {
    unsafe innermost = threads.address
  }

  var isEmpty: Bool { unsafe innermost.pointee == nil }

  /// Makes a notify the innermost one, until it is popped. It must stay where it is.
  func push(_ notify: UnsafeMutablePointer<ActiveNotify>) {
    unsafe notify.pointee.chain = innermost
    unsafe notify.pointee.outer = innermost.pointee
    unsafe innermost.pointee = notify
  }

  /// Calls `body` with every notify, innermost first.
  func forEach(_ body: (ActiveNotify) -> Void) {
    var next = unsafe innermost.pointee
    while let active = unsafe next {
      unsafe body(active.pointee)
      unsafe next = active.pointee.outer
    }
  }
}

extension ActiveNotify {
  /// Takes this notify, the innermost one, out of its chain. On the thread that it was pushed on.
  @inlinable
  func pop() {
    unsafe chain?.pointee = outer
  }
}
