// A post goes in three steps.
//
// Call: everybody without a home and everybody at home here, in the order of registration, after what waits
// in this home. Leave: a letter for every other home, all of them under the office's lock. Follow: what was
// posted in these calls goes the same three steps now, one after the other.
//
// One lock, and after the calls: two homes that got their letters one by one would let a fast home answer
// before a slow one has heard the question; and so would a home that got its letter while somebody without a
// home has yet to be called.

/// One post, as its poster gives it to the office.
struct Posting {
  let list: ClientList
  let site: CallSite

  /// The actor that the post is written in.
  let isolation: (any Actor)?

  /// The actor that everybody is to be called in, if the post's body names one.
  let actor: (any Actor)?

  /// Whether every call is awaited.
  let isAwaited: Bool

  /// What keeps the post as the latest one of its topic, if that is to be kept.
  let keeper: LatestPost?

  /// What is held until everybody had the post.
  let receipt: Receipt?

  init(
    to list: ClientList, from site: CallSite, isolation: (any Actor)?, actor: (any Actor)? = nil,
    isAwaited: Bool = false, keeper: LatestPost? = nil, receipt: Receipt? = nil
  ) {
    self.list = list
    self.site = site
    self.isolation = isolation
    self.actor = actor
    self.isAwaited = isAwaited
    self.keeper = keeper
    self.receipt = receipt
  }

  /// The same, with somebody who waits.
  func waited(by receipt: Receipt) -> Posting {
    Posting(
      to: list, from: site, isolation: isolation, actor: actor, isAwaited: isAwaited,
      keeper: keeper,
      receipt: receipt)
  }
}

/// The post that a topic keeps, to begin with it for those who observe later.
final class LatestPost: Sendable {
  private let post = Locked<(any Post)?>(nil)

  var current: (any Post)? { post.withLock { $0 } }

  /// Keeps another post, or none, and returns the one before. Written with the office's lock held.
  func exchange(_ new: (any Post)?) -> (any Post)? {
    post.withLock { post in
      let old = post
      post = new
      return old
    }
  }
}

/// What a post has to leave for others.
private struct Departure {
  /// The clients that live elsewhere.
  var groups: [ClientGroup] = []

  /// The registrations whose calls are awaited.
  var lanes: [(PostOffice.LaneKey, Registration)] = []

  /// The registrations that have to be called with other posts first.
  var queues: [(any PostQueue, Registration)] = []

  /// The registrations that have moved to another home since the post was made.
  var moved: [Registration] = []

  /// Single registrations that live elsewhere.
  var others: [(Mailbox, Registration)] = []

  /// Notes the registrations that have been replaced and that the post does not reach otherwise: neither the
  /// old one, nor, being too new, the one in its place. Returns how many replacements there have been.
  ///
  /// - Parameters:
  ///   - limit: The number that the next registration had when the post was made.
  ///   - before: How many replacements came before the walk that has called those without a home.
  ///   - here: The clients that this walk has called as well.
  ///   - noted: How many replacements have been noted before.
  mutating func note(
    _ moves: [(index: Int, move: RecentMoves.Move)], before limit: UInt64,
    walkedAfter before: Int, here: ClientGroup?, noted: Int
  ) -> Int {
    for (index, move) in moves where move.old < limit && limit <= move.new.number {
      let isWalkedOver = index >= before && (move.from == nil || move.from === here)
      let lane = lanes.firstIndex { $0.1.number == move.old }
      if let lane { lanes.remove(at: lane) }
      // Who was walked over was called, or was found to be replaced then.
      if !isWalkedOver || lane != nil { moved.append(move.new) }
    }
    return moves.last.map { $0.index + 1 } ?? noted
  }

  /// Has the single registrations be looked up again.
  mutating func lookUpAgain() {
    moved += others.map(\.1)
    others = []
  }

  mutating func takeQueues() -> [(any PostQueue, Registration)] {
    defer { queues = [] }
    return queues
  }

  mutating func takeFirstMoved() -> Registration? {
    moved.isEmpty ? nil : moved.removeFirst()
  }

  var isEmpty: Bool { groups.isEmpty && lanes.isEmpty && moved.isEmpty && queues.isEmpty }
}

extension PostOffice {
  /// Posts, and returns how many clients were called or will be.
  ///
  /// - Parameters:
  ///   - subject: The protocol or the topic, for a report.
  ///   - call: Calls the client in a box.
  ///   - make: Makes the post that letters share.
  func post(
    _ posting: Posting, subject: () -> DeliverySubject, call: (WeakBox) -> CallOutcome,
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
    _ posting: Posting, subject: @Sendable () -> DeliverySubject, _ content: Content
  ) async -> Int {
    if posting.list.isEmpty, posting.keeper == nil { return 0 }
    var called = 0
    await withCheckedContinuation { continuation in
      called = post(
        posting.waited(by: Receipt(continuation)), subject: subject,
        call: { box in content.call(box, on: .posting) },
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
    _ posting: Posting, after cause: Cause, _ subject: () -> DeliverySubject
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
  private func deliver(
    _ posting: Posting, _ trace: PostTrace?, limit: UInt64?, moves: Int?,
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
    _ posting: Posting, tellingTo pass: DeliveryPass?, limit: UInt64?, moves: Int?,
    active: UnsafeMutablePointer<ActivePost>,
    call: (WeakBox) -> CallOutcome, make: () -> any Post
  ) -> Int {
    let list = posting.list
    if list.isEmpty, posting.keeper == nil { return 0 }
    if let actor = posting.actor, !posting.isAwaited {
      return unsafe deliver(
        posting, tellingTo: pass, in: actor, limit: limit, active: active, call: call, make: make)
    }
    var departure = Departure()
    var here: ClientGroup?
    var limit = limit
    var noted = moves
    if list.hasGroups, !posting.isAwaited {
      // The post's moment comes before that of what waits here.
      if limit == nil {
        let moment = list.moment
        (limit, noted) = (moment.limit, moment.moves)
      }
      departure.groups = list.groups
      // What a topic keeps goes to every home by letter, in the order in which it is kept.
      let index =
        posting.keeper != nil
        ? nil
        : departure.groups.firstIndex { group in
          unsafe enter(group.mailbox, for: posting, active)
        }
      if let index { here = departure.groups.remove(at: index) }
    }
    var movesBefore = list.moveCount
    var walk = list.beginWalk()
    while movesBefore != list.moveCount {
      movesBefore = list.moveCount
      walk = list.beginWalk()
    }
    let upper = limit ?? walk.limit
    var called = 0
    while let box = walk.next() {
      guard posting.isAwaited || box.isInNoGroup || here.map(box.isIn) == true else { continue }
      called += walk.call(box, in: 0..<upper, collecting: &departure, call)
    }
    if !departure.isEmpty || posting.keeper != nil || list.hasMoved {
      let post = make()
      var seen = upper
      var moves = noted ?? movesBefore
      while true {
        // They may have moved once more since they were looked up.
        departure.lookUpAgain()
        moves = departure.note(
          list.moves(since: moves), before: upper, walkedAfter: movesBefore, here: here,
          noted: moves)
        called += callRest(
          of: &departure, with: post, here: here, posting.receipt, tellingTo: pass)
        guard
          let now = leave(
            post, departure, 0..<upper, seen: seen, moves: moves, here: here, posting,
            tellingTo: pass)
        else { break }
        if now > seen {
          var walk = list.beginWalk()
          while let box = walk.next() {
            guard box.isInNoGroup else { continue }
            called += walk.call(box, in: seen..<now, collecting: &departure, call)
          }
        }
        seen = now
      }
      called += departure.groups.reduce(departure.lanes.count + departure.others.count) {
        $0 + $1.count
      }
    }
    here?.mailbox.leave()
    if posting.keeper != nil {
      for group in list.groups where unsafe enter(group.mailbox, for: posting, active) {
        group.mailbox.leave()
      }
    }
    return called
  }

  /// Calls those whom the walk has not called because they have moved, or are called with other posts first.
  private func callRest(
    of departure: inout Departure, with post: any Post, here: ClientGroup?, _ receipt: Receipt?,
    tellingTo pass: DeliveryPass?
  ) -> Int {
    var called = 0
    for (queue, registration) in departure.takeQueues() {
      if queue.enqueue(QueuedPost(post: post, receipt: receipt)) {
        called += 1
      } else {
        departure.moved.append(registration)
      }
    }
    while let registration = departure.takeFirstMoved() {
      guard var walk = post.list.beginWalk(at: registration), let box = walk.next() else {
        if let next = post.list.successor(of: registration) { departure.moved.append(next) }
        continue
      }
      if box.isInNoGroup || here.map(box.isIn) == true {
        called += walk.call(box, in: 0..<UInt64.max, collecting: &departure) { box in
          pass.call(box) { post.call($0, on: .posting) }
        }
      } else if let group = box.group {
        departure.others.append((group.mailbox, registration))
      }
    }
    return called
  }

  /// Calls everybody in one actor, or leaves a letter for it.
  private func deliver(
    _ posting: Posting, tellingTo pass: DeliveryPass?, in actor: any Actor, limit: UInt64?,
    active: UnsafeMutablePointer<ActivePost>, call: (WeakBox) -> CallOutcome, make: () -> any Post
  ) -> Int {
    let (next, count, _) = posting.list.moment
    let range = 0..<(limit ?? next)
    let mailbox = mailbox(of: actor)
    if unsafe enter(mailbox, for: posting, active) {
      defer { mailbox.leave() }
      var departure = Departure()
      var called = 0
      var walk = posting.list.beginWalk()
      while let box = walk.next() {
        called += walk.call(box, in: range, collecting: &departure, call)
      }
      return called
    }
    let letter = Letter(
      post: make(), addressee: .everyone, range: range, receipt: posting.receipt)
    let isToBeDrained = withLock { state in mailbox.put(letter, number: state.nextNumber()) }
    pass?.left(for: mailbox.home, clients: count)
    if isToBeDrained { mailbox.startDrain() }
    return count
  }

  /// Claims a home for a post, if this is where it is made.
  private func enter(
    _ mailbox: Mailbox, for posting: Posting, _ active: UnsafeMutablePointer<ActivePost>
  ) -> Bool {
    // What follows a letter is not called in the letter's home at once: others wait there.
    unsafe mailbox !== active.pointee.draining
      && mailbox.home.isCurrent(from: posting.isolation) && mailbox.enter()
  }

  /// Leaves a post in all homes at once.
  ///
  /// A topic that keeps its latest message keeps this one in the same moment. So who begins to observe it
  /// before that moment must get this message, too, and who begins after it begins with this one.
  ///
  /// - Parameters:
  ///   - range: The registrations from before the post.
  ///   - seen: The number up to which those without a home have been called.
  ///   - moves: How many replacements of registrations have been noted.
  ///   - here: The clients that were called at home.
  /// - Returns: Nil if all is done. If registrations have been replaced, or the post is to be kept and others
  ///   have begun to observe: the number up to which these are to be called, and then this is to be tried again.
  private func leave(
    _ post: any Post, _ departure: Departure, _ range: Range<UInt64>, seen: UInt64,
    moves: Int, here: ClientGroup?, _ posting: Posting, tellingTo pass: DeliveryPass?
  ) -> UInt64? {
    struct Outcome: Sendable {
      var next: UInt64?
      var toBeDrained: [Mailbox] = []
      var replaced: (any Post)?
    }
    let outcome = withLock { state in
      var outcome = Outcome()
      var groups = departure.groups
      guard post.list.moveCount == moves else { return Outcome(next: seen) }
      if let keeper = posting.keeper {
        let now = post.list.moment.limit
        guard now == seen else { return Outcome(next: now) }
        groups = post.list.groups
        outcome.replaced = keeper.exchange(post)
      }
      let number = state.nextNumber()
      func put(_ addressee: Letter.Addressee, _ range: Range<UInt64>, in mailbox: Mailbox) {
        let letter = Letter(
          post: post, addressee: addressee, range: range, receipt: posting.receipt)
        if mailbox.put(letter, number: number) { outcome.toBeDrained.append(mailbox) }
      }
      for group in groups {
        put(.group(group), range.lowerBound..<seen, in: group.mailbox)
      }
      // The letters of groups that are taken now are for those as well.
      for (mailbox, registration) in departure.others
      where posting.keeper == nil || registration.number >= seen {
        put(.one(registration), 0..<UInt64.max, in: mailbox)
      }
      for (key, registration) in departure.lanes {
        let lane = lane(key, in: &state)
        let letter = Letter(
          post: post, addressee: .one(registration), range: 0..<UInt64.max,
          receipt: posting.receipt?.wait(for: lane))
        if lane.put(letter, number: number) { outcome.toBeDrained.append(lane) }
      }
      return outcome
    }
    if outcome.next == nil { pass?.left(departure) }
    for mailbox in outcome.toBeDrained { mailbox.startDrain() }
    return outcome.next
  }
}

extension DeliveryPass {
  /// Reports what was left. For a topic that keeps its latest message, who lives elsewhere is counted before.
  fileprivate func left(_ departure: Departure) {
    for group in departure.groups where group.count > 0 {
      left(for: group.mailbox.home, clients: group.count)
    }
    for (mailbox, _) in departure.others { left(for: mailbox.home, clients: 1) }
    if let (key, _) = departure.lanes.first {
      left(for: .lane(key), clients: departure.lanes.count)
    }
  }
}

extension Walk {
  /// Calls the client in a box, if it is one of those in a range. Returns how many were called.
  fileprivate mutating func call(
    _ box: WeakBox, in range: Range<UInt64>, collecting departure: inout Departure,
    _ call: (WeakBox) -> CallOutcome
  ) -> Int {
    guard range.contains(box.number) else { return 0 }
    switch call(box) {
    case .called: return 1
    case .dead: noteDead(box)
    case .refused: break
    case .awaits(let key): departure.lanes.append((key, box.registration))
    case .queues(let queue, let registration): departure.queues.append((queue, registration))
    case .moved(let registration): departure.moved.append(registration)
    }
    return 0
  }
}
