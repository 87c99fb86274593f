// How a post is delivered.
//
// A *listener* (a client of a protocol, or a handler of a topic) may have a home: an actor or a queue. Each home has a mailbox. A
// *letter* in a mailbox is one post that waits for the listeners there. A home is *here* if this thread runs in it. A post takes
// four steps:
//
// 1. Call.    Call the listeners without a home, on this thread, in the order of registration.
// 2. Leave.   In one critical section of the office's lock, store the post if its topic keeps the latest message, and put one letter
//             in the mailbox of every home concerned. Claim one home that is here instead: this thread calls its listeners.
// 3. Drain.   As the office unlocks, a drain starts for each mailbox whose home is elsewhere: see Drain.swift. In the homes that are
//             here, this thread handles what waits.
// 4. Follow.  Deliver the posts that listeners have made during these calls, one after the other, in the same steps.
//
// Calls come before letters, and all letters are left under one lock, so that no listener sees an effect before its cause. Two
// other orders were tried in a model. If letters are left first, a fast home can post its answer before a listener without a
// home has received the question (16 of 200 random programs). With a lock for each mailbox, a fast home can answer before a
// slow one has received the question (5 of 200).
//
// `postOnMain`, `post(awaiting:)` and topics that keep their latest message take the same steps. They differ in the mailboxes that
// get letters: see `Post.Destination`.
//
// Example. The main actor posts `.login`, which a log without a home, a screen of the main actor and a store on a queue observe:
//
//     post ─▶ 1. call log ─▶ 2. store: put letter ─▶ startDrain   ── queue ──▶ claimForDrain ─▶ call store ─▶ finish ─▶ idle
//                               main actor: claim ─▶ 3. call screen ─▶ release ─▶ 4. posts of log and screen ─▶ finish ─▶ return
//
// Who owns what:
//
// | object     | owners                                               | is destroyed                                             |
// | ---------- | ---------------------------------------------------- | -------------------------------------------------------- |
// | post       | the thread that delivers it; each letter of it; a    | where its last part is finished or its successor is      |
// |            | topic's LatestMessage; the user's `Posted`           | stored, with no lock held: its body is client code       |
// | roster     | its list, until that changes; each post for it;      | with its post, after the calls, or when the list changes |
// |            | a `DeliveryState`                                    |                                                          |
// | box        | its list, while registered; each roster with it      | with no lock held: an id in it is client code            |
// | mailbox    | the office's table; the boxes of its home; a drain   | after unlocking                                          |
//
// `DeliveryState` and the frames refer to these without retaining them, while the function that delivers owns the post.

import MulticastPlatform

extension PostOffice {
  /// Delivers a post, or lets it follow the one that is calling on this thread.
  ///
  /// - Parameter isolation: The actor in which the calling code is written. It is known to be here.
  @usableFromInline
  func post(_ post: consuming Post, from isolation: (any Actor)?) -> Posted {
    let chain = DeliveryChain()
    var outermost: UnsafeMutablePointer<DeliveryFrame>?
    if !chain.isEmpty || multicast_is_awaiting(), let cause = Cause.current {
      guard admit(post, after: cause) else { return Posted(nil, clients: 0, of: self) }
      unsafe outermost = chain.outermostPost(of: ObjectIdentifier(self))
    }
    if let tracing { unsafe post.trace = tracing.trace(post.list, from: post.site) }
    if let outermost = unsafe outermost {
      let isLetter = unsafe outermost.pointee.isLetter || !chain.isLed(by: outermost)
      unsafe outermost.pointee.postFrame?.pointee.addFollower(post, isLetter: isLetter)
      return Posted(post, clients: post.roster.boxes.registered, of: self)
    }
    let isolation = isolation.map { ObjectIdentifier($0) }
    let post = unsafe Unmanaged.passRetained(consume post)
    return unsafe withFrame { frame in
      let (waiting, clients) = unsafe frame.runPart(of: post) { post in
        let (clients, letters) = deliver(post, isFollower: false, from: isolation)
        return (letters > 0 ? post : nil, clients)
      }
      return Posted(waiting, clients: clients, of: self)
    }
  }

  /// Notes the cause of a post. Returns false, and reports the post, if its causes have set off too many.
  private func admit(_ post: Post, after cause: Cause) -> Bool {
    let cause = post.setReference(Cause(site: post.site, parent: cause))
    let recurrences = cause.countRecurrence()
    if recurrences <= Cause.limit { return true }
    if recurrences == Cause.limit + 1 { loopGuard.reportPost(to: post.list, by: cause) }
    tracing?.refuse(.post, post.list, from: post.site)
    return false
  }

  /// Takes the first three steps. Returns the number of listeners that were called or will be, and that of the letters.
  @inline(never)
  private func deliver(
    _ post: Post, isFollower: Bool, from isolation: ObjectIdentifier?
  ) -> (clients: Int, letters: Int) {
    post.trace(waited: isFollower, in: nil) { pass in
      var called = 0
      if case .homes = post.destination {
        let roster = post.roster
        called = roster.withoutHome.isEmpty ? 0 : call(roster.withoutHome, with: post, pass)
        if roster.homes.isEmpty, unsafe post.latest == nil { return (called, 0) }
      }
      var delivery = DeliveryState()
      leave(post, &delivery, from: isolation)
      if let pass { delivery.reportLetters(of: post, to: pass) }
      called += drain(delivery) { boxes in call(boxes, with: post, pass) }
      return (called + delivery.listeners, delivery.letters)
    }
  }
}

// MARK: - 1. Call

extension PostOffice {
  /// Calls the listeners in boxes, in order. Returns their number.
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

// MARK: - 2. Leave

extension PostOffice {
  /// Stores a post if its topic keeps the latest message, and leaves letters in the homes concerned.
  @inline(never)
  private func leave(
    _ post: Post, _ delivery: inout DeliveryState, from isolation: ObjectIdentifier?
  ) {
    // Before the lock is taken: a custom executor may run code of its own to answer, and a client may be released last.
    switch post.destination {
    case .homes: break
    case .mainActor: delivery.setRoster(Roster(allOf: post.roster.boxes, in: mainMailbox))
    // No caller of `delivered()` waits for a client that has been deallocated.
    case .tasks: post.list.findDeallocated(in: post.roster.boxes)
    }
    unsafe delivery.roster(of: post)._withUnsafeGuaranteedRef { roster in
      roster.forEachHome { _, mailbox in
        if mailbox.isHere(from: isolation) { delivery.addHere(mailbox) }
      }
    }
    withLock { state in
      if let latest = unsafe post.latest {
        delivery.releaseLater(unsafe latest._withUnsafeGuaranteedRef { $0.storePost(post, &state) })
        // Take the list's roster again. A handler that has registered since the post was made has begun with an earlier message,
        // and needs a letter of this one. One that registers later begins with this message. So each handler gets it
        // exactly once. A home that was not asked whether it is here counts as elsewhere.
        delivery.setRoster(post.list.roster)
      }
      if case .tasks = post.destination {
        delivery.setRoster(state.rosterOfTasks(for: post.roster))
      }
      unsafe delivery.roster(of: post)._withUnsafeGuaranteedRef { roster in
        state.putLetters(of: post, for: roster, &delivery)
      }
    }
  }
}

extension PostOffice.State {
  /// A roster in which the mailbox of a task is the home of each client.
  fileprivate mutating func rosterOfTasks(for roster: Roster) -> Roster {
    var groups: ContiguousArray<Roster.Group> = []
    for box in roster.boxes {
      let client = box.identity
      if client == 0 { continue }
      groups.append(Roster.Group(of: mailbox(ofClient: client), [box]))
    }
    return Roster(roster.boxes, withoutHome: [], homes: groups)
  }

  /// Puts letters of a post in the mailboxes of a roster.
  @inline(__always)
  mutating func putLetters(of post: Post, for roster: Roster, _ delivery: inout DeliveryState) {
    roster.forEachHome { group, mailbox in
      delivery.claimOrPut(post, for: group, in: mailbox, &self)
    }
    if delivery.letters > 0 { post.addParts(delivery.letters) }
  }
}

// MARK: - 3. Drain

extension PostOffice {
  /// Calls the listeners of the home that was claimed, after what waited there, and handles the letters in the other homes that
  /// are here. The drains of homes that are elsewhere have been started as the lock was released.
  ///
  /// - Parameter call: Calls listeners at home.
  /// - Returns: The number of calls.
  @inline(__always)
  func drain(_ delivery: borrowing DeliveryState, _ call: (Boxes) -> Int) -> Int {
    var called = 0
    delivery.withClaim { mailbox, boxes, earlier in
      if earlier > 0 { handleEarlier(earlier, in: mailbox) }
      called = call(boxes)
      change(mailbox) { $0.release() }
    }
    delivery.forEachOtherHome { mailbox in handleWaiting(in: mailbox) }
    return called
  }

  /// Handles the letters that waited in a home when this thread claimed it.
  @inline(never)
  private func handleEarlier(_ count: Int, in mailbox: Mailbox) {
    var batch = LetterQueue()
    change(mailbox) { state in
      state.take(count, into: &batch)
      return .handleLetters
    }
    handle(&batch, in: mailbox)
  }

  /// Handles the letters that wait in a home that is here, unless another thread has claimed it. Those that arrive later are for a
  /// drain, because a home that keeps receiving letters could keep this thread forever.
  @inline(never)
  private func handleWaiting(in mailbox: Mailbox) {
    var batch = LetterQueue()
    let action = change(mailbox) { state in
      guard state.claim() == .handleLetters else { return .nothing }
      state.take(.max, into: &batch)
      return .handleLetters
    }
    if action == .nothing { return }
    handle(&batch, in: mailbox)
    change(mailbox) { $0.release() }
  }

  /// Handles letters in their home, which this thread has claimed: calls their listeners, and delivers the posts that these make.
  func handle(_ batch: inout LetterQueue, in mailbox: Mailbox) {
    if batch.isEmpty { return }
    unsafe withFrame { frame in
      while let letter = batch.popFirst() {
        let group = letter.group
        // The frame finishes the letter's part of the post.
        let post = unsafe Unmanaged.passRetained(letter.post)
        _ = consume letter
        unsafe frame.pointee.isLetter = true
        unsafe frame.runPart(of: post) { post in callAtHome(group.boxes, with: post, in: mailbox) }
        unsafe follow(frame)
      }
    }
  }

  /// Calls listeners in their home, and reports that as a pass of its own.
  func callAtHome(_ boxes: Boxes, with post: Post, in mailbox: Mailbox) {
    post.trace(waited: true, in: mailbox) { pass in _ = call(boxes, with: post, pass) }
  }
}

// MARK: - 4. Follow

extension PostOffice {
  /// Runs `body`, which delivers posts, in a frame of this thread's chain. Then delivers the posts that these have set off.
  ///
  /// The center does not settle meanwhile, because the frame counts as a delivery.
  @inline(__always)
  func withFrame<Result: ~Copyable>(
    _ body: (UnsafeMutablePointer<DeliveryFrame>) -> Result
  ) -> Result {
    var postFrame = PostFrame(office: ObjectIdentifier(self))
    // List and call site are those of the post, from `runPart` on.
    var frame = DeliveryFrame(list: ObjectIdentifier(self), site: CallSite())
    beginFrame()
    defer { endFrame() }
    return unsafe withUnsafeMutablePointer(to: &postFrame) { postFrame in
      unsafe withUnsafeMutablePointer(to: &frame) { frame in
        unsafe frame.pointee.postFrame = postFrame
        unsafe DeliveryChain().push(frame)
        let result = unsafe body(frame)
        unsafe follow(frame)
        unsafe frame.pointee.pop()
        return result
      }
    }
  }

  /// Delivers the posts that wait in a frame, and those that follow them.
  @inline(__always)
  private func follow(_ frame: UnsafeMutablePointer<DeliveryFrame>) {
    while let (post, isLetter) = unsafe frame.pointee.postFrame?.pointee.takeFollower() {
      unsafe frame.pointee.isLetter = isLetter
      unsafe frame.runPart(of: post) { post in _ = deliver(post, isFollower: true, from: nil) }
    }
  }
}
