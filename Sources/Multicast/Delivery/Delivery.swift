// A post on its way to its clients.
//
// 1. Call.   Clients without a home are called here, in the order of registration.
// 2. Leave.  With the office's lock held, a topic keeps the post as its latest, and every other home gets a letter. One home
//            in which this thread runs is claimed instead.
// 3. Drain.  Drains are started in the homes that are elsewhere: see Drain.swift. In those that are here, this thread handles
//            what waits.
// 4. Follow. Posts that these calls have made take the same steps, one after the other.
//
// Letters need one lock, and come after the calls. Otherwise a fast home could answer before a slow home, or a client without
// a home, has received the question. `postOnMain`, awaiting bodies and kept topics take the same steps. Only the mailboxes
// differ: see ``Post/Destination``.

extension PostOffice {
  /// Delivers a post, or lets it follow the one that is calling on this thread.
  ///
  /// - Parameter isolation: The actor in which the calling code is written.
  @usableFromInline
  func post(_ post: consuming Post, from isolation: (any Actor)?) -> Posted {
    var outermost: UnsafeMutablePointer<PostFrame>?
    if let cause = Cause.current {
      guard admit(post, after: cause) else { return Posted(nil, clients: 0, of: self) }
      unsafe outermost = DeliveryChain().outermostPost(of: ObjectIdentifier(self))
    }
    if let tracing { unsafe post.trace = tracing.trace(post.list.subject, from: post.site) }
    if let outermost = unsafe outermost {
      // Busy until all have been delivered, or a center would settle meanwhile.
      if unsafe outermost.pointee.append(post) { withLock { $0.busy += 1 } }
      return Posted(post, clients: post.roster.boxes.registered, of: self)
    }
    let isolation = isolation.map { ObjectIdentifier($0) }
    let post = unsafe Unmanaged.passRetained(consume post)
    return unsafe withFrame { frame in
      let (waiting, clients) = unsafe frame.call(with: post) { post in
        let clients = deliver(post, isFollower: false, from: isolation)
        return unsafe (post.hasLetters ? post : nil, clients)
      }
      return Posted(waiting, clients: clients, of: self)
    }
  }

  /// Notes the cause of a post. Returns false, and reports the post, if its causes have set off too many.
  private func admit(_ post: Post, after cause: Cause) -> Bool {
    let cause = post.set(Cause(site: post.site, parent: cause))
    let recurrences = cause.countRecurrence()
    if recurrences <= Cause.limit { return true }
    if recurrences == Cause.limit + 1 { loopGuard.reportPost(to: post.list, by: cause) }
    tracing?.refuse(.post, post.list.subject, from: post.site)
    return false
  }

  /// Takes the first three steps. Returns the number of clients that were called or will be.
  @inline(never)
  private func deliver(_ post: Post, isFollower: Bool, from isolation: ObjectIdentifier?) -> Int {
    post.report(waited: isFollower, in: nil) { pass in
      let roster = post.roster
      let called = post.hasHomeless ? call(roster.homeless, with: post, pass) : 0
      if !post.hasLettersToLeave { return called }
      let actions = leave(post, from: isolation)
      unsafe post.hasLetters = actions.clients > 0
      if let pass { report(actions, of: post, to: pass) }
      return called + drain(actions) { boxes in call(boxes, with: post, pass) }
    }
  }
}

// MARK: - 1. Call

extension PostOffice {
  /// Calls the clients in boxes, in order. Returns their number.
  @inline(never)
  func call(_ boxes: Boxes, with post: Post, _ pass: DeliveryPass?) -> Int {
    post.list.forEach(in: boxes) { box in
      guard let pass, let call = pass.beginCall(of: box) else { return post.call(box) }
      let outcome = post.call(box)
      if case .called = outcome { pass.endCall(call) }
      return outcome
    }
  }
}

// MARK: - 2. Leave

extension PostOffice {
  @inline(never)
  private func leave(_ post: Post, from isolation: ObjectIdentifier?) -> LeaveActions {
    var actions = LeaveActions()
    // Asked with no lock held. A home that comes meanwhile is not known to be here, and gets a drain.
    switch post.destination {
    case .homes:
      post.roster.forEachHome { _, mailbox in
        if mailbox.isDrained(from: isolation) { actions.addHere(mailbox) }
      }
    case .mainActor:
      if mainMailbox.isDrained(from: isolation) { actions.addHere(mainMailbox) }
    // No mailbox is made for a client that is found dead.
    case .tasks: post.list.findDead(in: post.roster.boxes)
    }
    withLock { state in
      switch post.destination {
      case .homes:
        if let latest = unsafe post.latest {
          unsafe keep(post, in: latest, &state, &actions)
        } else {
          post.roster.forEachHome { state.put(post, for: $0, in: $1, &actions) }
        }
      case .mainActor: state.put(post, for: post.roster.all, in: mainMailbox, &actions)
      case .tasks:
        for box in post.roster.boxes {
          let client = box.identity
          if client == 0 { continue }
          let mailbox = state.mailbox(ofClient: client)
          state.put(post, for: Roster.Residents(of: mailbox, [box]), in: mailbox, &actions)
          // A client that is removed in this moment gets no letter.
          if !state.with(mailbox, { $0.isBusy }) { state.removeMailbox(ofClient: client) }
        }
      }
    }
    return actions
  }

  /// Makes a post the latest of its topic, and leaves it.
  @inline(__always)
  private func keep(
    _ post: Post, in latest: Unmanaged<LatestPost>, _ state: inout State,
    _ actions: inout LeaveActions
  ) {
    let replaced = unsafe latest._withUnsafeGuaranteedRef { $0.keep(post, &state) }
    // Asked again for a kept post, because later observers begin with it.
    let roster = unsafe post.latest == nil ? post.roster : post.list.roster
    roster.forEachHome { state.put(post, for: $0, in: $1, &actions) }
    actions.hold(replaced, roster)
  }

  private func report(_ actions: borrowing LeaveActions, of post: Post, to pass: DeliveryPass) {
    if case .tasks = post.destination {
      return pass.reportLeft(for: Home.task, clients: actions.clients, waiting: nil)
    }
    actions.forEachLeft { mailbox, clients in
      let waiting = change(mailbox) { $0.letters.count }
      pass.reportLeft(for: mailbox, clients: clients, waiting: waiting)
    }
  }
}

// MARK: - 3. Drain

extension PostOffice {
  /// Performs the actions. Returns the number of clients that were called or will be.
  ///
  /// - Parameter call: Calls the clients in the home that was claimed, after what waited there.
  @inline(__always)
  func drain(_ actions: borrowing LeaveActions, _ call: (Boxes) -> Int) -> Int {
    actions.forEachDrain { mailbox in startDrain(of: mailbox) }
    var called = actions.clients
    actions.withClaimed { mailbox, boxes in
      actions.withEarlier { letters in handle(&letters, in: mailbox) }
      called += call(boxes)
      release(mailbox)
    }
    actions.forEachWaiting { mailbox in handleWaiting(in: mailbox) }
    return called
  }

  /// Handles the letters that wait in a home that is here, unless another thread is at work there. Later ones wait, or this
  /// might never end.
  @inline(never)
  private func handleWaiting(in mailbox: Mailbox) {
    var batch = LetterQueue()
    guard change(mailbox, { $0.claimAndTake(into: &batch) }) == .handle else { return }
    handle(&batch, in: mailbox)
    release(mailbox)
  }

  func release(_ mailbox: Mailbox) {
    if change(mailbox, { $0.release() }) == .startDrain { startDrain(of: mailbox) }
  }

  /// Handles letters in their home: calls their clients, and then delivers the posts that these made.
  func handle(_ batch: inout LetterQueue, in mailbox: Mailbox) {
    if batch.isEmpty { return }
    unsafe withFrame { frame in
      while let (post, residents) = unsafe batch.takeFirst() {
        // A post that is being delivered on this stack, in another home that is here, goes on here.
        unsafe frame.pointee.isLetter = !DeliveryChain().isDelivering(post)
        unsafe frame.call(with: post) { callAtHome(residents.boxes, with: $0, in: mailbox) }
        unsafe follow(frame)
      }
    }
  }

  func callAtHome(_ boxes: Boxes, with post: Post, in mailbox: Mailbox) {
    post.report(waited: true, in: mailbox) { pass in _ = call(boxes, with: post, pass) }
  }
}

// MARK: - 4. Follow

extension PostOffice {
  /// Runs `body`, which delivers posts, in a frame of this thread's chain. Then delivers the posts that these have set off.
  @inline(__always)
  func withFrame<Result: ~Copyable>(
    _ body: (UnsafeMutablePointer<DeliveryFrame>) -> Result
  ) -> Result {
    var post = PostFrame(office: ObjectIdentifier(self))
    var frame = DeliveryFrame(list: ObjectIdentifier(self), site: CallSite())
    return unsafe withUnsafeMutablePointer(to: &post) { post in
      unsafe withUnsafeMutablePointer(to: &frame) { frame in
        unsafe frame.pointee.post = post
        unsafe DeliveryChain().push(frame)
        let result = unsafe body(frame)
        unsafe follow(frame)
        unsafe frame.pointee.pop()
        if unsafe post.pointee.hasFollowers { withLock { $0.busy -= 1 } }
        return result
      }
    }
  }

  /// Delivers the posts that wait in a frame, and those made in their calls.
  @inline(__always)
  private func follow(_ frame: UnsafeMutablePointer<DeliveryFrame>) {
    while let post = unsafe frame.pointee.post?.pointee.takeFollower() {
      unsafe frame.call(with: post) { _ = deliver($0, isFollower: true, from: nil) }
    }
  }
}
