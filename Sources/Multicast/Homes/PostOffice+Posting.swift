extension PostOffice {
  /// Posts. Returns the number of clients that were called or will be; nil if the list is closed.
  ///
  /// - Parameters:
  ///   - subject: The protocol or the topic, for reports.
  ///   - call: Calls the client in a box.
  ///   - make: Makes the post on the heap.
  @inline(__always)
  func post(
    _ posting: borrowing Posting, subject: DeliverySubject,
    call: (WeakBox, ClientList) -> CallOutcome,
    make: (borrowing Posting, Post.Origin) -> Post
  ) -> Int? {
    let chain = DeliveryChain()
    if !chain.isEmpty, let active = unsafe innermostPost(in: chain) {
      return unsafe wait(posting, behind: active, subject: subject, make: make)
    }
    // A post of another office may be calling here. It is a cause, and does not delay this post.
    let cause =
      unsafe chain.innermostPost(of: nil).map { unsafe ActivePost.at($0) }?.pointee.cause()
      ?? AwaitedCall.current?.cause
    if let cause, !admit(posting, after: cause, subject) { return 0 }
    let trace = tracing?.trace(subject, from: posting.site)
    var active = ActivePost(office: self, site: posting.site, parent: cause)
    var called: Int?
    unsafe withUnsafeMutablePointer(to: &active) { active in
      unsafe perform(active, list: posting.list, isLetter: false, in: chain) {
        called = unsafe deliver(
          posting, trace, before: nil, active: active, call: call,
          make: { limit in
            unsafe make(
              posting,
              Post.Origin(
                limit: limit, parent: cause, recurrences: active.pointee.recurrences, trace: trace))
          })
      }
    }
    return called
  }

  /// Appends a post to those that wait for the calls of another one. Returns the number of its clients.
  private func wait(
    _ posting: borrowing Posting, behind active: UnsafeMutablePointer<ActivePost>,
    subject: DeliverySubject, make: (borrowing Posting, Post.Origin) -> Post
  ) -> Int? {
    let cause = unsafe active.pointee.cause()
    guard admit(posting, after: cause, subject) else { return 0 }
    guard let audience = posting.list.audience else { return nil }
    if let keeper = posting.keeper {
      let isOpen = withLock { state in
        // Closing needs this lock, so the list stays open from here on.
        if posting.list.audience == nil { return false }
        keeper.countPending(1, &state)
        return true
      }
      guard isOpen else { return nil }
    }
    let post = make(
      posting,
      Post.Origin(
        limit: audience.limit, parent: cause, recurrences: nil,
        trace: tracing?.trace(subject, from: posting.site)))
    let pending = ActivePost.Pending(
      post: post, named: posting.named, isAwaited: posting.isAwaited, keeper: posting.keeper,
      receipt: posting.receipt)
    unsafe active.pointee.pending.append(pending)
    return audience.count
  }

  /// Posts, and returns when every client was called and the letters have ended.
  nonisolated(nonsending) func postAndWait(
    _ posting: borrowing Posting, subject: DeliverySubject,
    call: (WeakBox, ClientList) -> CallOutcome, make: (borrowing Posting, Post.Origin) -> Post
  ) async -> Int? {
    if posting.list.isEmpty, posting.keeper == nil { return 0 }
    var called: Int?
    await withCheckedContinuation { continuation in
      let posting = posting.waited(by: Receipt(continuation))
      called = post(posting, subject: subject, call: call, make: make)
    }
    return called
  }

  /// Handles a letter: calls its recipients, then delivers the posts that they made.
  func handle(_ letter: borrowing Letter, in mailbox: Mailbox) {
    let (post, addressee) = (letter.post, letter.addressee)
    var active = ActivePost(office: self, post)
    unsafe withUnsafeMutablePointer(to: &active) { active in
      unsafe perform(active, list: post.list, isLetter: true, in: DeliveryChain()) {
        post.reporting(in: mailbox.place) { pass in
          defer { extendLifetime(post) }
          guard var walk = post.list.beginWalk(for: addressee, at: mailbox) else { return }
          walk.forEach { box in
            guard addressee.includes(box) else { return .skipped }
            return pass.call(box) { box in post.call(box, as: addressee) }
          }
        }
      }
    }
  }

  /// Runs `body`, the calls of a post, and then delivers the posts made in them.
  private func perform(
    _ active: UnsafeMutablePointer<ActivePost>, list: ClientList, isLetter: Bool,
    in chain: DeliveryChain, _ body: () -> Void
  ) {
    // A letter may be handled inside another post, when that post claims its home. What is posted here then
    // follows the outer post.
    let outer = unsafe chain.isEmpty ? nil : innermostPost(in: chain)
    var delivery = unsafe ActiveDelivery(list: ObjectIdentifier(list), site: active.pointee.site)
    unsafe delivery.post = UnsafeMutableRawPointer(active)
    unsafe delivery.poster = active.pointee.office
    if isLetter { delivery.letter = StackPlace.current }
    unsafe withUnsafeMutablePointer(to: &delivery) { delivery in
      unsafe chain.push(delivery)
      body()
      if unsafe !active.pointee.pending.isEmpty {
        if let outer = unsafe outer {
          unsafe outer.pointee.pending += active.pointee.pending
        } else {
          unsafe follow(active, delivery)
        }
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
      // By index, so each receipt is released after its post.
      for index in batch.indices {
        let pending = batch[index]
        let post = pending.post
        let receipt = batch[index].receipt.take()
        unsafe active.pointee.follow(post)
        unsafe delivery.pointee.list = ObjectIdentifier(post.list)
        unsafe delivery.pointee.site = post.site
        let posting = Posting(
          to: post.list, from: post.site, isolation: nil, named: pending.named,
          isAwaited: pending.isAwaited, keeper: pending.keeper, receipt: receipt)
        _ = unsafe deliver(
          posting, post.trace, before: post.limit, active: active,
          call: { box, _ in post.call(box, as: nil) }, make: { _ in post })
        if let keeper = pending.keeper { withLock { state in keeper.countPending(-1, &state) } }
      }
    }
  }

  private func innermostPost(in chain: DeliveryChain) -> UnsafeMutablePointer<ActivePost>? {
    unsafe chain.innermostPost(of: ObjectIdentifier(self)).map { unsafe ActivePost.at($0) }
  }

  /// Whether a post with a cause is admitted. Reports a refusal.
  private func admit(
    _ posting: borrowing Posting, after cause: Cause, _ subject: DeliverySubject
  ) -> Bool {
    guard cause.sites.contains(posting.site) else { return true }
    let verdict = cause.recurrences.countOne()
    if verdict == .legitimate { return true }
    if verdict == .firstTooMany {
      reentrancyGuard.reportPost(from: posting.site, after: cause, key: subject.description)
    }
    tracing?.reporter?.refuse(.post, subject, from: posting.site)
    return false
  }
}
