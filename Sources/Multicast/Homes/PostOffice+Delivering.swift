// A post is delivered in three steps.
//
// Call: clients without a home, and clients at home on this thread, in the order of registration, after the
// letters that wait in this home. Leave: one letter for each other home, all under the office's lock. Follow:
// the posts made in these calls take the same steps, one after the other.
//
// Letters need one lock, and come after the calls. Otherwise a fast home could answer before a slow home, or
// a client without a home, has received the question.

extension PostOffice {
  /// Calls and leaves one post, and reports it. Returns the number of clients that were called or will be.
  @inline(__always)
  func deliver(
    _ posting: borrowing Posting, _ trace: PostTrace?,
    made moment: ActivePost.Moment = ActivePost.now,
    active: UnsafeMutablePointer<ActivePost>, call: (WeakBox) -> CallOutcome, make: () -> Post
  ) -> Int {
    guard let trace else {
      return unsafe deliver(
        posting, tellingTo: nil, made: moment, active: active, call: call, make: make)
    }
    return trace.deliver(follows: moment.limit != .max) { pass in
      unsafe deliver(
        posting, tellingTo: pass, made: moment, active: active,
        call: { box in pass.call(box, call) }, make: make)
    }
  }

  /// Calls and leaves one post. Returns the number of clients that were called or will be.
  private func deliver(
    _ posting: borrowing Posting, tellingTo pass: DeliveryPass?, made moment: ActivePost.Moment,
    active: UnsafeMutablePointer<ActivePost>, call: (WeakBox) -> CallOutcome, make: () -> Post
  ) -> Int {
    // A walk does not keep its list.
    defer { extendLifetime(posting.list) }
    if posting.list.isEmpty, posting.keeper == nil { return 0 }
    if let actor = posting.actor, !posting.isAwaited {
      return unsafe deliver(
        posting, tellingTo: pass, in: actor, limit: moment.limit, active: active, call: call,
        make: make)
    }
    var start = posting.list.beginPost()
    let upper = min(moment.limit, start.walk.limit)
    var departure = Departure()
    departure.moves = start.moves
    if moment.moves < start.moves {
      let (all, count) = posting.list.moves(since: moment.moves)
      departure.note(all.dropLast(count - start.moves), before: upper)
    }
    var here: ClientGroup?
    let isForAll = posting.isAwaited || start.groups.isEmpty
    if !isForAll {
      departure.groups = start.groups
      // A topic's latest message reaches every home by letter, in the order in which messages are kept.
      let index =
        posting.keeper != nil
        ? nil
        : departure.groups.indices.first { index in
          unsafe enter(departure.groups[index].mailbox, for: posting, active)
        }
      if let index { here = departure.groups.remove(at: index) }
    }
    var called = 0
    while let box = start.walk.next() {
      guard isForAll || box.isInNoGroup || here.map(box.isIn) == true else { continue }
      called += start.walk.call(box, in: 0..<upper, collecting: &departure, call)
    }
    if !departure.isEmpty || posting.keeper != nil {
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
          var walk = posting.list.beginWalk()
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
      for group in posting.list.groups where unsafe enter(group.mailbox, for: posting, active) {
        group.mailbox.leave(of: self)
      }
    }
    return called
  }

  /// Calls a client without a home by its registration, or records what to do instead.
  private func call(
    _ registration: Registration, with post: Post, _ departure: inout Departure,
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

  /// Calls all clients in one actor, or leaves a letter there.
  private func deliver(
    _ posting: borrowing Posting, tellingTo pass: DeliveryPass?, in actor: any Actor, limit: UInt64,
    active: UnsafeMutablePointer<ActivePost>, call: (WeakBox) -> CallOutcome, make: () -> Post
  ) -> Int {
    defer { extendLifetime(posting.list) }
    let (next, count, _) = posting.list.moment
    let range = 0..<min(limit, next)
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

  /// Claims a home for a post that is made there.
  private func enter(
    _ mailbox: Mailbox, for posting: borrowing Posting, _ active: UnsafeMutablePointer<ActivePost>
  ) -> Bool {
    // Other letters may wait in the home of the letter being handled, so what follows it is not called there
    // at once.
    unsafe ObjectIdentifier(mailbox) != active.pointee.draining
      && mailbox.home.isCurrent(from: posting.isolation) && mailbox.enter(of: self)
  }
}
