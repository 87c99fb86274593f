extension PostOffice {
  /// Posts. Returns the number of clients that were called or will be.
  ///
  /// - Parameters:
  ///   - subject: The protocol or the topic, for reports.
  ///   - call: Calls the client in a box.
  ///   - make: Makes the post on the heap.
  func post(
    _ posting: borrowing Posting, subject: () -> DeliverySubject, call: (WeakBox) -> CallOutcome,
    make: (Cause?, Recurrences?, PostTrace?) -> Post
  ) -> Int {
    let chain = DeliveryChain(threads)
    if let active = unsafe chain.innermostPost(of: self) {
      // A client that a post is calling makes this one, so it follows.
      let cause = unsafe active.pointee.cause()
      guard admit(posting, after: cause, subject) else { return 0 }
      let (limit, count, moves) = posting.list.moment
      unsafe active.pointee.pending.append(
        ActivePost.Pending(
          post: make(cause, nil, tracing?.trace(subject(), from: posting.site)),
          moment: (limit, moves), keeper: posting.keeper, receipt: posting.receipt))
      return count
    }
    // A post of another office may be calling here. It is a cause, and does not delay this post.
    let cause = unsafe chain.innermostPost()?.pointee.cause() ?? AwaitedCall.current?.cause
    if let cause, !admit(posting, after: cause, subject) { return 0 }
    let trace = tracing?.trace(subject(), from: posting.site)
    var active = ActivePost(office: self, site: posting.site, parent: cause)
    var called = 0
    unsafe withUnsafeMutablePointer(to: &active) { active in
      unsafe perform(active, list: posting.list, in: chain) {
        called = unsafe deliver(
          posting, trace, active: active, call: call,
          make: { unsafe make(cause, active.pointee.recurrences, trace) })
      }
    }
    return called
  }

  /// Posts, and returns when every client was called or its letter discarded.
  nonisolated(nonsending) func postAndWait<Content: PostContent>(
    _ posting: borrowing Posting, subject: @Sendable () -> DeliverySubject, _ content: Content
  ) async -> Int {
    if posting.list.isEmpty, posting.keeper == nil { return 0 }
    var called = 0
    await withCheckedContinuation { continuation in
      called = post(
        posting.waited(by: Receipt(continuation)), subject: subject,
        call: { box in content.call(box, of: posting.list, on: .posting) },
        make: { cause, recurrences, trace in
          PostOf(
            content, list: posting.list, site: posting.site, parent: cause,
            recurrences: recurrences, trace: trace)
        })
    }
    return called
  }

  /// Handles a letter in its home. `body` calls the recipients.
  func handle(_ post: Post, in mailbox: Mailbox?, _ body: () -> Void) {
    var active = ActivePost(office: self, post, draining: mailbox)
    unsafe withUnsafeMutablePointer(to: &active) { active in
      unsafe perform(active, list: post.list, in: DeliveryChain(threads), body)
    }
  }

  /// Runs `body`, the calls of a post, and then delivers the posts made in them.
  private func perform(
    _ active: UnsafeMutablePointer<ActivePost>, list: ClientList, in chain: DeliveryChain,
    _ body: () -> Void
  ) {
    // A letter may be handled inside another post, when that post claims its home. What is posted here then
    // follows the outer post.
    let outer = unsafe chain.innermostPost(of: self)
    var delivery = unsafe ActiveDelivery(list: ObjectIdentifier(list), site: active.pointee.site)
    unsafe delivery.post = active
    unsafe withUnsafeMutablePointer(to: &delivery) { delivery in
      unsafe chain.push(delivery)
      body()
      if let outer = unsafe outer {
        unsafe outer.pointee.pending += active.pointee.pending
      } else if unsafe !active.pointee.pending.isEmpty {
        unsafe follow(active, delivery)
      }
      unsafe delivery.pointee.pop()
    }
  }

  /// Delivers the pending posts, and those made in their calls.
  private func follow(
    _ active: UnsafeMutablePointer<ActivePost>, _ delivery: UnsafeMutablePointer<ActiveDelivery>
  ) {
    while unsafe !active.pointee.pending.isEmpty {
      var batch: [ActivePost.Pending] = []
      unsafe swap(&batch, &active.pointee.pending)
      for pending in batch {
        let post = pending.post
        unsafe active.pointee.follow(post)
        unsafe delivery.pointee.list = ObjectIdentifier(post.list)
        unsafe delivery.pointee.site = post.site
        let posting = Posting(
          to: post.list, from: post.site, isolation: nil, actor: post.actor,
          isAwaited: post.isAwaited, keeper: pending.keeper, receipt: pending.receipt)
        _ = unsafe deliver(
          posting, post.trace, made: pending.moment, active: active,
          call: { post.call($0, on: .posting) },
          make: { post })
      }
    }
  }

  /// Whether a post with a cause is admitted. Reports a refusal.
  private func admit(
    _ posting: borrowing Posting, after cause: Cause, _ subject: () -> DeliverySubject
  ) -> Bool {
    guard cause.sites.contains(posting.site) else { return true }
    let verdict = cause.recurrences.countOne()
    if verdict == .legitimate { return true }
    if verdict == .firstTooMany {
      reentrancyGuard.reportPost(from: posting.site, after: cause, key: subject().description)
    }
    tracing?.reporter?.refuse(.post, subject(), from: posting.site)
    return false
  }
}
