// A post goes in three steps.
//
// Call: everybody without a home and everybody at home here, in the order of registration, after what waits
// in this home. Leave: a letter for every other home, all of them under the office's lock. Follow: what was
// posted in these calls goes the same three steps now, one after the other.
//
// One lock, and after the calls: two homes that got their letters one by one would let a fast home answer
// before a slow one has heard the question; and so would a home that got its letter while somebody without a
// home has yet to be called.

extension PostOffice {
  /// Posts, and returns how many clients were called or will be.
  ///
  /// - Parameters:
  ///   - subject: The protocol or the topic, for a report.
  ///   - call: Calls the client in a box.
  ///   - make: Makes the post that letters share.
  func post(
    _ posting: borrowing Posting, subject: () -> DeliverySubject, call: (WeakBox) -> CallOutcome,
    make: (Cause?, Recurrences?, PostTrace?) -> any Post
  ) -> Int {
    let chain = DeliveryChain(threads)
    if let active = unsafe chain.innermostPost(of: self) {
      // Inside of another post's call: this one follows.
      let cause = unsafe active.pointee.cause()
      guard admit(posting, after: cause, subject) else { return 0 }
      let (limit, count, moves) = posting.list.moment
      unsafe active.pointee.pending.append(
        ActivePost.Pending(
          post: make(cause, nil, tracing?.trace(subject(), from: posting.site)), limit: limit,
          moves: moves, keeper: posting.keeper,
          receipt: posting.receipt))
      return count
    }
    // A post of another office may be calling here. It does not hold this one up, but it is its cause.
    let cause = unsafe chain.innermostPost()?.pointee.cause() ?? AwaitedCall.current?.cause
    if let cause, !admit(posting, after: cause, subject) { return 0 }
    let trace = tracing?.trace(subject(), from: posting.site)
    var active = ActivePost(office: self, site: posting.site, parent: cause)
    var called = 0
    unsafe withUnsafeMutablePointer(to: &active) { active in
      unsafe perform(active, list: posting.list, in: chain) {
        called = unsafe deliver(
          posting, trace, limit: nil, moves: nil, active: active, call: call
        ) {
          unsafe make(cause, active.pointee.recurrences, trace)
        }
      }
    }
    return called
  }

  /// Posts, and returns when every client was called or is not to be called any more.
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

  /// Handles a letter: `body` calls the clients that it is for, in the home that it was left for.
  func handle(_ post: any Post, in mailbox: Mailbox?, _ body: () -> Void) {
    var active = ActivePost(office: self, post, draining: mailbox)
    unsafe withUnsafeMutablePointer(to: &active) { active in
      unsafe perform(active, list: post.list, in: DeliveryChain(threads), body)
    }
  }

  /// Calls `body` as the calls of a post, and then delivers what was posted in them.
  private func perform(
    _ active: UnsafeMutablePointer<ActivePost>, list: ClientList, in chain: DeliveryChain,
    _ body: () -> Void
  ) {
    // A letter may be handled inside of another post: what waited here when that one was made, for instance.
    // What this thread posts then follows that one, in the order in which it was posted.
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

  /// Delivers what was posted in the calls of a post, and in the calls of what follows, one after the other.
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
          posting, post.trace, limit: pending.limit, moves: pending.moves, active: active,
          call: { post.call($0, on: .posting) },
          make: { post })
      }
    }
  }

  /// Whether a post may be made that another one has set off. Reports it if not.
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

// MARK: - The three steps

extension PostOffice {
  /// Calls and leaves one post with what goes along, and returns how many clients were called or will be.
  @inline(__always)
  private func deliver(
    _ posting: borrowing Posting, _ trace: PostTrace?, limit: UInt64?, moves: Int?,
    active: UnsafeMutablePointer<ActivePost>,
    call: (WeakBox) -> CallOutcome, make: () -> any Post
  ) -> Int {
    guard let trace else {
      return unsafe deliver(
        posting, tellingTo: nil, limit: limit, moves: moves, active: active, call: call, make: make)
    }
    return trace.deliver(follows: limit != nil) { pass in
      unsafe deliver(
        posting, tellingTo: pass, limit: limit, moves: moves, active: active,
        call: { box in pass.call(box, call) }, make: make)
    }
  }

  /// Calls and leaves one post, and returns how many clients were called or will be.
  ///
  /// - Parameters:
  ///   - limit: The number that the next registration had when the post was made; nil if it is made now.
  ///   - moves: How many registrations had been replaced then.
  private func deliver(
    _ posting: borrowing Posting, tellingTo pass: DeliveryPass?, limit: UInt64?, moves: Int?,
    active: UnsafeMutablePointer<ActivePost>,
    call: (WeakBox) -> CallOutcome, make: () -> any Post
  ) -> Int {
    let list = posting.list
    // Walks do not keep it.
    defer { extendLifetime(list) }
    if list.isEmpty, posting.keeper == nil { return 0 }
    if let actor = posting.actor, !posting.isAwaited {
      return unsafe deliver(
        posting, tellingTo: pass, in: actor, limit: limit, active: active, call: call, make: make)
    }
    var start = list.beginPost()
    let upper = limit ?? start.walk.limit
    var departure = Departure()
    departure.moves = start.moves
    if let moves, moves < start.moves {
      let (all, count) = list.moves(since: moves)
      departure.note(all.dropLast(count - start.moves), before: upper)
    }
    var here: ClientGroup?
    if !posting.isAwaited {
      departure.groups = start.groups
      // What a topic keeps goes to every home by letter, in the order in which it is kept.
      let index =
        posting.keeper != nil
        ? nil
        : departure.groups.firstIndex { group in
          unsafe enter(group.mailbox, for: posting, active)
        }
      if let index { here = departure.groups.remove(at: index) }
    }
    var called = 0
    let isForAll = posting.isAwaited || start.groups.isEmpty
    while let box = start.walk.next() {
      guard isForAll || box.isInNoGroup || here.map(box.isIn) == true else { continue }
      called += start.walk.call(box, in: 0..<upper, collecting: &departure, call)
    }
    if !departure.isEmpty || posting.keeper != nil || list.hasMoved {
      let post = make()
      var seen = upper
      while true {
        switch leave(post, &departure, seen: seen, posting, tellingTo: pass) {
        case .left(let count):
          called += count
        case .callAgain(let registrations):
          for registration in registrations {
            called += self.call(registration, with: post, &departure, tellingTo: pass)
          }
          continue
        case .callNew(let limit):
          var walk = list.beginWalk()
          while let box = walk.next() {
            guard box.isInNoGroup else { continue }
            called += walk.call(box, in: seen..<limit, collecting: &departure, call)
          }
          seen = limit
          continue
        }
        break
      }
    }
    here?.mailbox.leave(of: self)
    if posting.keeper != nil {
      for group in list.groups where unsafe enter(group.mailbox, for: posting, active) {
        group.mailbox.leave(of: self)
      }
    }
    return called
  }

  /// Calls who lives nowhere, by its registration, or takes note of what is to be done instead.
  private func call(
    _ registration: Registration, with post: any Post, _ departure: inout Departure,
    tellingTo pass: DeliveryPass?
  ) -> Int {
    defer { extendLifetime(post) }
    guard var walk = post.list.beginWalk(at: registration), let box = walk.next() else {
      departure.moved.append(registration)
      return 0
    }
    return walk.call(box, in: 0..<UInt64.max, collecting: &departure) { box in
      pass.call(box) { box in post.call(box, on: .posting) }
    }
  }

  /// Calls everybody in one actor, or leaves a letter for it.
  private func deliver(
    _ posting: borrowing Posting, tellingTo pass: DeliveryPass?, in actor: any Actor,
    limit: UInt64?,
    active: UnsafeMutablePointer<ActivePost>, call: (WeakBox) -> CallOutcome, make: () -> any Post
  ) -> Int {
    defer { extendLifetime(posting.list) }
    let (next, count, _) = posting.list.moment
    let range = 0..<(limit ?? next)
    let mailbox = mailbox(of: actor)
    if unsafe enter(mailbox, for: posting, active) {
      defer { mailbox.leave(of: self) }
      var departure = Departure()
      var called = 0
      var walk = posting.list.beginWalk()
      while let box = walk.next() {
        called += walk.call(box, in: range, collecting: &departure, call)
      }
      return called
    }
    let post = make()
    let isToBeDrained = withLock { state in
      mailbox.put(
        Letter(
          state.nextNumber(), post, to: .everyone, before: range.upperBound,
          receipt: posting.receipt))
    }
    pass?.left(for: mailbox.home, clients: count)
    if isToBeDrained { mailbox.startDrain(of: self) }
    return count
  }

  /// Claims a home for a post, if this is where it is made.
  private func enter(
    _ mailbox: Mailbox, for posting: borrowing Posting, _ active: UnsafeMutablePointer<ActivePost>
  ) -> Bool {
    // What follows a letter is not called in the letter's home at once: others wait there.
    unsafe ObjectIdentifier(mailbox) != active.pointee.draining
      && mailbox.home.isCurrent(from: posting.isolation) && mailbox.enter(of: self)
  }

  private enum LeaveOutcome {
    /// All is done, for so many clients.
    case left(Int)

    /// These are to be called first: they live nowhere, and have taken the place of others.
    case callAgain([Registration])

    /// Those up to this number are to be called first, who have begun to observe.
    case callNew(UInt64)
  }

  /// Leaves a post in all homes at once, or returns what comes before that.
  ///
  /// A topic that keeps its latest message keeps this one in the same moment. So who begins to observe it
  /// before that moment must get this message, too, and who begins after it begins with this one.
  ///
  /// - Parameters:
  ///   - seen: The number up to which those without a home have been called.
  private func leave(
    _ post: any Post, _ departure: inout Departure, seen: UInt64, _ posting: borrowing Posting,
    tellingTo pass: DeliveryPass?
  ) -> LeaveOutcome {
    var toBeDrained: [Mailbox] = []
    var others: [(Mailbox, Registration)] = []
    var dropped: (any Post)?
    let outcome: LeaveOutcome = withLock { state in
      let list = post.list
      let closed = departure.takeClosedQueues()
      guard closed.isEmpty else { return .callAgain(closed) }
      if let keeper = posting.keeper {
        // Who takes another one's place begins anew, and is among the new ones.
        departure.moved = []
        let now = list.nextNumber
        guard now == seen else { return .callNew(now) }
        departure.groups = list.groups
        dropped = keeper.exchange(post)
      } else {
        departure.noteSinceWalk(list, before: seen)
        var near: [Registration] = []
        for registration in departure.moved {
          guard let (last, group) = list.current(registration) else { continue }
          if let group {
            others.append((group.mailbox, last))
          } else {
            near.append(last)
          }
        }
        departure.moved = near.isEmpty ? [] : others.map(\.1)
        guard near.isEmpty else { return .callAgain(near) }
      }
      let number = state.nextNumber()
      var count = others.count + departure.lanes.count + departure.queues.count
      // In the same moment: another thread handles them, and what it posts then is an effect of this.
      for (queue, _) in departure.queues {
        queue.enqueue(QueuedPost(post, receipt: posting.receipt))
      }
      for group in departure.groups where group.count > 0 {
        count += group.count
        let mailbox = group.mailbox
        let letter = Letter(number, post, to: .home, before: seen, receipt: posting.receipt)
        if mailbox.put(letter) { toBeDrained.append(mailbox) }
      }
      for (mailbox, registration) in others {
        let letter = Letter(number, post, to: .one(registration), receipt: posting.receipt)
        if mailbox.put(letter) { toBeDrained.append(mailbox) }
      }
      for (key, registration) in departure.lanes {
        let lane = lane(key, in: &state)
        let receipt = posting.receipt?.wait(for: lane)
        if lane.put(Letter(number, post, to: .one(registration), receipt: receipt)) {
          toBeDrained.append(lane)
        }
      }
      return .left(count)
    }
    extendLifetime(dropped)
    if let pass, case .left = outcome {
      pass.left(departure, others: others.map(\.0))
    }
    for mailbox in toBeDrained { mailbox.startDrain(of: self) }
    return outcome
  }
}
