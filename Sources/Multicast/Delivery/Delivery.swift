// How a post is delivered.
//
// A *listener* (a client of a protocol, or a handler of a topic) may have a home: an actor or a queue, or, for an awaiting one, a
// task. A listener without a home is called on the posting thread. If its topic keeps its latest message, "the posting thread" is
// its home, so that its calls do not overlap. Every home is a *mailbox* (`Mailbox` is the only subclass of `Home`). A *letter* in
// it is one post that waits for the listeners there. A home is *here* if this thread runs in it, and if it is not a task. A post
// takes four steps:
//
// 1. Call.    Call the listeners without a home, on this thread, in the order of registration.
// 2. Leave.   In one critical section of the office's lock, store the post if its topic keeps the latest message, and put one letter
//             in the mailbox of every home concerned. Claim one home that is here instead: this thread calls its listeners.
//             As the office unlocks, a drain starts in each home that is elsewhere, unless one is on its way or a thread is
//             calling there: see Drain.swift.
// 3. Handle.  In the homes that are here, this thread handles the letters that wait, and calls the listeners of this post, unless
//             the home is claimed already: then the one that has the claim does, or starts a drain.
// 4. Follow.  Deliver the posts that listeners have made during these calls, one after the other, in the same steps.
//
// Calls come before letters, and all letters are left under one lock, so that no listener sees an effect before its cause. Two
// other orders were tried in a model. If letters are left first, a fast home can post its answer before a listener without a
// home has received the question (16 of 200 random programs). With a lock for each mailbox, a fast home can answer before a
// slow one has received the question (5 of 200).
//
// `postOnMain` and `post(awaiting:)` begin with step 2, and differ in the mailboxes that get letters: see `Post.Destination`. A
// topic that keeps its latest message stores the post in step 2, and its handlers without a home share the mailbox of its
// `LatestStore`.
//
// | listener                                   | its home           | is here                         | calls it                  |
// | ------------------------------------------ | ------------------ | ------------------------------- | ------------------------- |
// | added in an actor, or for a queue          | that actor, queue  | if the thread runs in it        | step 3, or a drain        |
// | without an actor and a queue               | none               |                                 | step 1                    |
// | the same, if the topic keeps its latest    | the posting thread | on every thread                 | step 3, or a drain        |
// | a handler that is awaited                  | a task             | never                           | a drain that awaits       |
// | a client, in `post(awaiting:)`             | a task, for that   | never                           | a drain that awaits       |
//
// The functions, in the order in which they call each other. `‖` stands for "later, on the thread of the home":
//
//     post → withFrame → callAndFinishPart → deliver → performSteps
//       1. call → forEach → callClient or callHandler
//       2. leaveLetters → claimOrPut; as the office unlocks: startDrain
//       3. handleHere
//       finishPart; 4. deliverFollowers
//       ‖ drainTurn → handle → callAndFinishPart → callAtHome → call → callClient or callHandler; finishPart
//       ‖ drainAwaitingTurn → handleAwaiting → callAwaiting; finishPart → Waiter.resume, for `delivered()`
//
// Example. The main actor posts `.login`, which a log without a home, a screen of the main actor and a store on a queue observe:
//
//     post ─▶ 1. call log ─▶ 2. queue: put letter ─▶ startDrain   ── queue ──▶ claimForDrain ─▶ call store ─▶ finishPart ─▶ idle
//                               main actor: claim ─▶ 3. call screen ─▶ endClaim ─▶ finishPart ─▶ 4. posts of log and screen ─▶ return
//
// Who owns a post, a roster, a box and a mailbox: see Post.swift.

import MulticastPlatform

extension PostOffice {
  /// Delivers a post, or lets it follow the one that is calling on this thread.
  ///
  /// - Parameter isolation: The actor in which the calling code is written. It is known to be here.
  @usableFromInline
  func post(_ post: consuming Post, in isolation: (any Actor)?) -> Posted {
    let chain = DeliveryChain()
    if !admit(post, on: chain) { return Posted() }
    if let tracing { unsafe post.trace = tracing.makeTrace(of: post.list, from: post.site) }
    if let outermost = unsafe chain.outermostPostFrame(of: ObjectIdentifier(self)) {
      // For the loop guard and for reports: what has led to the follower.
      let isFromLetter = unsafe outermost.pointee.isFromLetter || !chain.isLed(by: outermost)
      unsafe outermost.pointee.postFrame?.pointee.addFollower(post, isFromLetter: isFromLetter)
      return Posted(post, clients: post.roster.boxes.registered, of: self)
    }
    // The usual way: steps 1 to 3 are this thread's part of the post, and `withFrame` adds step 4.
    let isolation = isolation.map { ObjectIdentifier($0) }
    let retained = unsafe Unmanaged.passRetained(consume post)
    return unsafe withFrame(in: isolation) { frame in
      let (unfinished, clients) = unsafe frame.callAndFinishPart(of: retained, isFromLetter: false)
      { post in
        let (clients, letters) = deliver(post, isFollower: false, in: isolation)
        return (letters > 0 ? post : nil, clients)
      }
      return Posted(unfinished, clients: clients, of: self)
    }
  }

  /// Notes the cause of a post, if it has one. Returns false, and reports the post, if its causes have set off too many.
  @inline(__always)
  private func admit(_ post: Post, on chain: DeliveryChain) -> Bool {
    // Without a frame on this thread and without an awaited call in the process, nothing has caused this post. This saves reading
    // a task-local value.
    if chain.isEmpty, !multicast_awaits_anywhere() { return true }
    return Cause.current.map { cause in admit(post, after: cause) } ?? true
  }

  private func admit(_ post: Post, after cause: Cause) -> Bool {
    let cause = post.setCause(Cause(site: post.site, parent: cause))
    let recurrences = cause.countRecurrence()
    if recurrences <= Cause.limit { return true }
    if recurrences == Cause.limit + 1 { loopGuard.reportPost(to: post.list, by: cause) }
    tracing?.reportRefusal(.post, post.list, from: post.site)
    return false
  }

  /// Runs `body`, which delivers posts, in a frame of this thread's chain. If it is the office's outermost frame on this
  /// thread, then delivers what was posted meanwhile.
  ///
  /// `activeFrames` counts the frame, so the center does not settle meanwhile. Only `settled()` needs that.
  ///
  /// - Parameter isolation: The actor in which the calling code is written.
  @inline(__always)
  func withFrame<Result: ~Copyable>(
    in isolation: ObjectIdentifier? = nil, _ body: (FramePointer) -> Result
  ) -> Result {
    var postFrame = PostFrame(office: ObjectIdentifier(self), in: isolation)
    // List and call site are those of the post, from `callAndFinishPart` on.
    var frame = DeliveryFrame(list: ObjectIdentifier(self), site: CallSite())
    let stripe = activeFrames.begin()
    defer { if activeFrames.end(stripe) { withLock { $0.resumeWaitersIfSettled() } } }
    return unsafe withUnsafeMutablePointer(to: &postFrame) { postFrame in
      unsafe withUnsafeMutablePointer(to: &frame) { frame in
        unsafe frame.pointee.postFrame = postFrame
        unsafe DeliveryChain().push(frame)
        let result = unsafe body(frame)
        unsafe deliverFollowers(of: frame)
        unsafe frame.pointee.pop()
        return result
      }
    }
  }

  /// Performs the first three steps, and reports them as a pass. Returns the number of listeners that were called or will be, and
  /// that of the letters.
  @inline(__always)
  private func deliver(
    _ post: Post, isFollower: Bool, in isolation: ObjectIdentifier?
  ) -> (clients: Int, letters: Int) {
    if unsafe post.trace == nil { return performSteps(post, nil, in: isolation) }
    return post.withPass(waited: isFollower, in: nil) { pass in
      performSteps(post, pass, in: isolation)
    }
  }

  /// Calls the listeners without a home, leaves letters, and handles those in the homes that are here.
  ///
  /// - Parameter pass: Nil if the post has no trace.
  @inline(never)
  private func performSteps(
    _ post: Post, _ pass: DeliveryPass?, in isolation: ObjectIdentifier?
  ) -> (clients: Int, letters: Int) {
    var called = 0
    if case .homes = post.destination {
      let roster = post.roster
      called = roster.withoutHome.isEmpty ? 0 : call(roster.withoutHome, with: post, pass)
      if roster.groups.isEmpty, unsafe post.store == nil { return (called, 0) }
    }
    var delivery = DeliveryState()
    leaveLetters(of: post, &delivery, in: isolation)
    if let pass { delivery.reportLetters(of: post, to: pass) }
    // If no home is here, there is nothing to handle.
    called += handleHere(delivery) { boxes in call(boxes, with: post, pass) }
    return (called + delivery.listeners, delivery.letters)
  }
}

// MARK: - 1. Call

extension PostOffice {
  /// Calls the listeners in boxes, in order. Returns their number. Every call of a post that does not await is made here.
  @inline(never)
  func call(_ boxes: Boxes, with post: Post, _ pass: DeliveryPass?) -> Int {
    post.list.forEach(in: boxes) { box in
      guard let pass, let call = pass.beginCall(of: box) else {
        return post.callListener(box, post)
      }
      let outcome = post.callListener(box, post)
      if case .called = outcome { pass.endCall(call) }
      return outcome
    }
  }
}

// MARK: - 2. Leave: see Leave.swift

// MARK: - 3. Handle

extension PostOffice {
  /// Calls the listeners of the home that was claimed, after what waited there, and handles the letters in the other homes that
  /// are here.
  ///
  /// - Parameter callListeners: Calls listeners at home.
  /// - Returns: The number of calls.
  @inline(__always)
  func handleHere(_ delivery: borrowing DeliveryState, _ callListeners: (Boxes) -> Int) -> Int {
    var called = 0
    delivery.withClaim { mailbox, boxes in
      delivery.withEarlier { earlier in handle(&earlier, in: mailbox) }
      called = callListeners(boxes)
      lockAndChange(mailbox) { $0.endClaim() }
    }
    delivery.forEachOtherHere { mailbox in handleOtherHere(in: mailbox) }
    return called
  }

  /// Handles the letters that wait in a home that is here, unless it is claimed already. Those that arrive later are for a
  /// drain, because a home that keeps receiving letters could keep this thread forever.
  @inline(never)
  private func handleOtherHere(in mailbox: Mailbox) {
    var batch = LetterQueue()
    if lockAndChange(mailbox, { $0.claimAndTakeAll(into: &batch) }) == .nothing { return }
    handle(&batch, in: mailbox)
    lockAndChange(mailbox) { $0.endClaim() }
  }

  /// Handles letters in their home, which this thread has claimed: calls their listeners. A post that a listener makes follows
  /// in the office's outermost frame on this thread. If that is the frame of this function, the post is delivered before the
  /// next letter, and `withFrame` finds nothing at the end.
  func handle(_ batch: inout LetterQueue, in mailbox: Mailbox) {
    if batch.isEmpty { return }
    unsafe withFrame { frame in
      while let letter = batch.popFirst() {
        let group = letter.group
        let retained = unsafe Unmanaged.passRetained(letter.post)
        _ = consume letter
        unsafe frame.callAndFinishPart(of: retained, isFromLetter: true) { post in
          _ = callAtHome(group.boxes, with: post, in: mailbox)
        }
        unsafe deliverFollowers(of: frame)
      }
    }
  }

  /// Calls listeners in their home, and reports that as a pass of its own. Returns their number.
  func callAtHome(_ boxes: Boxes, with post: Post, in mailbox: Mailbox) -> Int {
    if unsafe post.trace == nil { return call(boxes, with: post, nil) }
    return post.withPass(waited: true, in: mailbox) { pass in call(boxes, with: post, pass) }
  }
}

// MARK: - 4. Follow

extension PostOffice {
  /// Delivers the posts that wait in a frame, and those that follow them. Only the outermost frame of an office has any.
  @inline(__always)
  private func deliverFollowers(of frame: FramePointer) {
    guard let postFrame = unsafe frame.pointee.postFrame else { return }
    while let (retained, isFromLetter) = unsafe postFrame.pointee.takeFollower() {
      unsafe frame.callAndFinishPart(of: retained, isFromLetter: isFromLetter) { post in
        _ = unsafe deliver(post, isFollower: true, in: postFrame.pointee.isolation)
      }
    }
  }
}
