// A post is delivered in four steps.
//
// Call: clients without a home, here, in the order of registration. Leave: in one critical section of the office's lock,
// the post is kept, if it is to be, and one letter put in every home concerned; one home that is here is claimed instead.
// Drain: the homes that are here are claimed, and what waits there is handled; drains are started in the others. Follow:
// the posts made in these calls take the same steps, one after the other.
//
// Letters need one lock, and come after the calls. Otherwise a fast home could answer before a slow home, or a client
// without a home, has received the question. What goes to the main actor, who awaits and what is kept differ in the homes
// alone.

extension PostOffice {
  /// Calls and leaves one post, and reports it. Returns the number of clients that were called or will be.
  @inline(__always)
  func deliver(_ post: Post, follows: Bool, from isolation: ObjectIdentifier?) -> Int {
    guard let trace = unsafe post.trace else { return deliver(post, from: isolation, nil) }
    return trace.deliver(follows: follows) { pass in deliver(post, from: isolation, pass) }
  }

  @inline(__always)
  private func deliver(_ post: Post, from isolation: ObjectIdentifier?, _ pass: DeliveryPass?)
    -> Int
  {
    let roster = post.roster
    guard case .homes = post.destination else { return leave(post, from: isolation, pass) }
    let called = roster.homeless.isEmpty ? 0 : call(post, roster.homeless, pass)
    if unsafe roster.groups.isEmpty && post.keeper == nil { return called }
    return called + leave(post, from: isolation, pass)
  }

  @inline(never)
  private func leave(_ post: Post, from isolation: ObjectIdentifier?, _ pass: DeliveryPass?) -> Int
  {
    var leaving = Leaving()
    // Asked with no lock held. A home that comes meanwhile is not known to be here, and gets a drain.
    switch post.destination {
    case .homes:
      post.roster.forEachHome { _, mailbox in
        if mailbox.place.isCurrent(from: isolation) { leaving.addHere(mailbox) }
      }
    case .mainActor:
      if mainMailbox.place.isCurrent(from: isolation) { leaving.addHere(mainMailbox) }
    // Nobody waits for who is found dead.
    case .lanes: post.list.findDead(in: post.roster.all.boxes)
    }
    if case .homes = post.destination, unsafe post.keeper == nil {
      withLock { state in
        post.roster.forEachHome { group, mailbox in leaving.put(post, group, in: mailbox, &state) }
      }
      return drain(&leaving, post, pass)
    }
    let old = withLock { state in put(post, &leaving, &state) }
    defer { extendLifetime(old) }
    return drain(&leaving, post, pass)
  }

  /// Leaves letters of a post that does not just go to everybody's home. Returns what to release at the end.
  private func put(
    _ post: Post, _ leaving: inout Leaving, _ state: inout State
  ) -> (Roster, Post?) {
    var roster = post.roster
    var dropped: Post?
    // Whoever has removed the latest meanwhile has removed this one, too.
    let removals = unsafe post.keeper?._withUnsafeGuaranteedRef {
      $0.removals.load(ordering: .relaxed)
    }
    if removals != post.removals { unsafe post.keeper = nil }
    if let keeper = unsafe post.keeper {
      // Asked again, because later observers begin with this post.
      roster = post.list.roster
      state.keptPosts += 1
      unsafe post.number = state.keptPosts
      let kept = unsafe post.waiter == nil ? post : post.copy()
      dropped = unsafe keeper._withUnsafeGuaranteedRef { keeper in
        keeper.newest.store(state.keptPosts, ordering: .relaxed)
        return keeper.replace(with: kept, &state)
      }
    }
    switch post.destination {
    case .homes:
      roster.forEachHome { group, mailbox in leaving.put(post, group, in: mailbox, &state) }
    case .mainActor: leaving.put(post, roster.all, in: mainMailbox, &state)
    case .lanes:
      for box in roster.all.boxes {
        let client = box.identity
        if client == 0 { continue }
        let lane = state.lane(of: client)
        leaving.put(post, Roster.Group([box]), in: lane, &state)
        // Removed in this moment: it got no letter.
        if lane.isIdle(&state) { state.removeLane(of: client) }
      }
    }
    return (roster, dropped)
  }

  /// Starts drains, and handles the letters in the homes that are here. Returns the number of clients that were called or
  /// will be.
  ///
  /// - Parameter pass: Reports the calls and letters of this post; nil if nothing does.
  @inline(__always)
  private func drain(_ leaving: inout Leaving, _ post: Post, _ pass: DeliveryPass?) -> Int {
    unsafe post.hasLetters = leaving.count > 0
    if let pass { report(leaving, of: post, to: pass) }
    return drain(&leaving) { boxes in call(post, boxes, pass) }
  }

  /// - Parameter call: Calls the clients in the home that was claimed, after what waited there.
  @inline(__always)
  private func drain(_ leaving: inout Leaving, _ call: (Boxes) -> Int) -> Int {
    if let drain = unsafe leaving.drain { unsafe drain.takeRetainedValue().startDrain(of: self) }
    leaving.withMore { more in for mailbox in more.drains { mailbox.startDrain(of: self) } }
    var called = leaving.count
    if let claim = unsafe leaving.claim {
      unsafe claim.mailbox._withUnsafeGuaranteedRef { mailbox in
        leaving.withMore { more in handle(&more.batch, in: mailbox) }
        unsafe claim.group._withUnsafeGuaranteedRef { called += call($0.boxes) }
        if mailbox.release(of: self) { mailbox.startDrain(of: self) }
      }
    }
    leaving.withMore { more in for mailbox in more.waiting { handleWaiting(in: mailbox) } }
    return called
  }

  private func report(_ leaving: borrowing Leaving, of post: Post, to pass: DeliveryPass) {
    if case .lanes = post.destination {
      pass.left(for: .task(client: nil), clients: leaving.count, waiting: nil)
      return
    }
    leaving.withMore { more in
      for (mailbox, clients) in more.left {
        let letters = withLock { state in mailbox.waiting(&state).count }
        pass.left(for: mailbox.place, clients: clients, waiting: letters)
      }
    }
  }

  /// Handles the letters that wait in a home that is here, unless a thread has claimed it. Later ones wait, or this might
  /// never end.
  @inline(never)
  private func handleWaiting(in mailbox: Mailbox) {
    var batch = LetterQueue()
    let isClaimed = withLock { state in
      guard mailbox.claim(&state) != nil else { return false }
      mailbox.take(.max, into: &batch, &state)
      return true
    }
    if !isClaimed { return }
    handle(&batch, in: mailbox)
    if mailbox.release(of: self) { mailbox.startDrain(of: self) }
  }

  /// Lets homes that are not here find the deallocated clients of a list, with a letter that calls nobody.
  func findDeadElsewhere(in list: ClientList, from site: CallSite) {
    // A scheduler has no letters but the user's.
    if scheduler != nil { return }
    let post = SearchForDead(in: list, from: site)
    var leaving = Leaving()
    var elsewhere: [(Roster.Group, Mailbox)] = []
    post.roster.forEachHome { group, mailbox in
      if !mailbox.isOpen { elsewhere.append((group, mailbox)) }
    }
    withLock { state in
      for (group, mailbox) in elsewhere { leaving.put(post, group, in: mailbox, &state) }
    }
    _ = drain(&leaving) { _ in 0 }
  }

  /// Registers an observer, which begins with a kept post. `place` registers it, and returns the post.
  ///
  /// All later posts follow, because both happen under the office's lock. If the observer's home is here and free, it is
  /// called before this returns, as part of the caller's call stack.
  func begin<Result: Sendable>(
    _ box: WeakBox, in home: Mailbox, _ place: (inout State) -> (Result, Post?)
  ) -> Result {
    var leaving = Leaving()
    if home.place.isCurrent(from: nil) { leaving.addHere(home) }
    let group = Roster.Group([box])
    let (result, post) = withLock { state in
      let (result, post) = place(&state)
      if let post { leaving.put(post, group, in: home, &state) }
      return (result, post)
    }
    if let post {
      unsafe calling(ActivePost(post, of: self)) { _ in
        _ = drain(&leaving) { boxes in
          handle(post, boxes, in: home)
          return boxes.count
        }
      }
    }
    extendLifetime(group)
    return result
  }
}
