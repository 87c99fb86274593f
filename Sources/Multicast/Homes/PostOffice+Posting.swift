// Posts that clients make while a post calls them wait, and are delivered after the calls. So an effect follows its cause
// and is never nested in it. They wait in the outermost of an office's links: a letter may be handled inside another post,
// which claims its home.

extension PostOffice {
  /// A post that has left letters, or will be delivered, and the number of clients that were called or will be. Nil if all
  /// have been called.
  @usableFromInline typealias Posting = (post: Post?, clients: Int)

  /// Posts. Returns nil if the post was refused.
  ///
  /// - Parameter isolation: The actor in which the calling code is written.
  @usableFromInline
  func post(_ post: consuming Post, from isolation: (any Actor)?) -> Posting? {
    let isolation = isolation.map { ObjectIdentifier($0) }
    let chain = DeliveryChain()
    var outermost: UnsafeMutablePointer<ActivePost>?
    if !chain.isEmpty || AwaitedCall.current != nil {
      let office = ObjectIdentifier(self)
      // A post of another office may be calling here. It is a cause, and does not delay this post.
      let active = unsafe chain.innermostPost(of: office)
      let cause = unsafe (active ?? chain.innermostPost(of: nil))?.cause
      guard admit(post, after: cause ?? AwaitedCall.current?.cause) else { return nil }
      unsafe outermost = chain.outermostPost(of: office)
    }
    if let tracing { unsafe post.trace = tracing.trace(post.list.subject, from: post.site) }
    if let active = unsafe outermost {
      // Busy until all have been delivered, or a center would settle meanwhile.
      if unsafe active.append(post) { withLock { $0.busy += 1 } }
      return (post, post.roster.all.boxes.registered)
    }
    let post = unsafe Unmanaged.passRetained(consume post)
    return unsafe calling(ActivePost(of: self)) { active in
      unsafe active.set(post)
      let clients = unsafe post._withUnsafeGuaranteedRef { post in
        deliver(post, follows: false, from: isolation)
      }
      let waiting = unsafe post._withUnsafeGuaranteedRef { post in
        unsafe post.hasLetters ? post : nil
      }
      // What it holds may post, and that follows it.
      unsafe active.release(post)
      return (waiting, clients)
    }
  }

  /// Notes the cause of a post. Reports it, and returns false, if that cause has set off too many.
  private func admit(_ post: Post, after cause: Cause?) -> Bool {
    guard let cause else { return true }
    if cause.sites.contains(post.site) {
      let recurrences = cause.countRecurrence()
      if recurrences > Cause.limit {
        if recurrences == Cause.limit + 1 {
          reentrancyGuard.reportPost(to: post.list, from: post.site, after: cause)
        }
        tracing?.refuse(.post, post.list.subject, from: post.site)
        return false
      }
    }
    post.setCause(Cause(site: post.site, parent: cause))
    return true
  }

  /// Handles letters in a home: calls their clients, and then delivers the posts that these made.
  ///
  /// A letter of a post that is being delivered on this stack, in another home that is here, belongs to that delivery.
  func handle(_ batch: inout LetterQueue, in mailbox: Mailbox) {
    if batch.isEmpty { return }
    unsafe calling(ActivePost(of: self)) { active in
      while let (post, group) = unsafe batch.takeFirst() {
        unsafe active.pointee.link.isLetter = !DeliveryChain().isDelivering(post)
        unsafe active.set(post)
        unsafe post._withUnsafeGuaranteedRef { handle($0, group.boxes, in: mailbox) }
        unsafe active.release(post)
        unsafe follow(active)
      }
    }
  }

  /// Calls clients with a post that has waited for them.
  func handle(_ post: Post, _ boxes: Boxes, in mailbox: Mailbox) {
    guard let trace = unsafe post.trace else { return _ = call(post, boxes, nil) }
    trace.handle(in: mailbox.place) { pass in _ = call(post, boxes, pass) }
  }

  func call(_ post: Post, _ boxes: Boxes, _ pass: DeliveryPass?) -> Int {
    post.list.forEach(in: boxes) { box in
      guard let pass, let call = pass.begin(box) else { return post.call(box) }
      let outcome = post.call(box)
      if case .called = outcome { pass.end(call) }
      return outcome
    }
  }

  /// Runs `body`, which calls clients, as a link of this thread's chain. Then delivers the posts made in these calls.
  @inline(__always)
  func calling<Result>(
    _ post: ActivePost, _ body: (UnsafeMutablePointer<ActivePost>) -> Result
  ) -> Result {
    var active = post
    return unsafe withUnsafeMutablePointer(to: &active) { active in
      unsafe DeliveryChain().push(active.link)
      let result = unsafe body(active)
      unsafe follow(active)
      unsafe active.pointee.link.pop()
      if unsafe active.end() { withLock { $0.busy -= 1 } }
      return result
    }
  }

  /// Delivers the posts that wait here, and those made in their calls.
  @inline(__always)
  private func follow(_ active: UnsafeMutablePointer<ActivePost>) {
    while let post = unsafe active.takeFollower() {
      unsafe active.set(post)
      unsafe post._withUnsafeGuaranteedRef { _ = deliver($0, follows: true, from: nil) }
      unsafe active.release(post)
    }
  }
}
