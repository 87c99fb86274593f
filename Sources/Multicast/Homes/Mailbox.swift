/// The letters of one home, in the order of their posts.
///
/// An office has one mailbox for each home. At most one thread at a time handles its letters. This keeps the
/// order, whatever order tasks or blocks start in.
///
/// Lock order: the office's lock first; then a list's, or a mailbox's `outgoing`; then its `incoming`.
/// Letters are enqueued and taken over with the office's lock held, so all letters of one post appear at
/// once. The next letter is dequeued under a lock that posts do not need.
///
/// A mailbox does not refer to its office, which owns it.
final class Mailbox: Sendable {
  /// The number of letters that a drain handles before it yields.
  private static var turn: Int { 100 }

  let home: Home

  private let outgoing = Locked(Outgoing())
  private let incoming = Locked(Incoming())

  init(_ home: Home) {
    self.home = home
  }

  deinit {
    for letter in outgoing.withLock({ Array($0.waiting) }) { letter.end() }
    for letter in incoming.withLock({ $0.letters }) { letter.end() }
  }
}

// MARK: - Enqueueing

extension Mailbox {
  /// Enqueues a letter. Returns whether the caller must call ``startDrain(of:)`` after unlocking.
  ///
  /// The office's lock is held.
  func put(_ letter: Letter) -> Bool {
    incoming.withLock { incoming in
      incoming.letters.append(letter)
      return incoming.schedule()
    }
  }

  /// Inserts a letter that comes from another home, by its number. Otherwise like ``put(_:)``.
  func insert(_ letter: Letter) -> Bool {
    let isInserted = outgoing.withLock { $0.insert(letter) }
    return incoming.withLock { incoming in
      if !isInserted {
        let index = incoming.letters.firstIndex { $0.number > letter.number }
        incoming.letters.insert(letter, at: index ?? incoming.letters.endIndex)
      }
      return incoming.schedule()
    }
  }

  var hasLetters: Bool {
    !incoming.withLock { $0.letters.isEmpty } || !outgoing.withLock { $0.waiting.isEmpty }
  }

  /// Discards matching letters. Posters that wait for them are resumed. Called with no lock held.
  func giveUpLetters(in office: PostOffice, where matches: (Letter) -> Bool) {
    let dropped = office.withLock { _ in
      outgoing.withLock { $0.remove(where: matches) }
        + incoming.withLock { $0.remove(where: matches) }
    }
    for letter in dropped { letter.end() }
  }

  /// The matching letters not handled yet, in order, beginning with the current one. The office's lock is
  /// held.
  func unhandledLetters(where matches: (Letter) -> Bool) -> [QueuedPost] {
    outgoing.withLock { $0.unhandled(where: matches) }
      + incoming.withLock { $0.letters.filter(matches).map { QueuedPost($0) } }
  }
}

// MARK: - Draining

extension Mailbox {
  /// Starts to handle the letters in this home.
  func startDrain(of office: PostOffice) {
    // Detached: the task-local values of the first poster are not those of the others.
    let priority = max(Task.currentPriority, .medium)
    switch home {
    case .actor(let reference):
      guard let actor = reference.actor else { return giveUp(in: office) }
      if actor === MainActor.shared {
        let drain: @MainActor @Sendable () async -> Void = { [self] in
          while drainForATurn(of: office) { await Task.yield() }
        }
        Task.detached(priority: priority, operation: drain)
      } else {
        Task.detached(priority: priority) { [self] in
          guard let actor = reference.actor else { return giveUp(in: office) }
          await drain(of: office, isolation: actor)
        }
      }
    case .queue(let queue): drain(of: office, on: queue)
    case .lane:
      Task.detached(priority: priority) { [self] in await drainLane(of: office) }
    }
  }

  private func drain(of office: PostOffice, isolation: isolated any Actor) async {
    while drainForATurn(of: office) { await Task.yield() }
  }

  private func drain(of office: PostOffice, on queue: MarkedQueue) {
    queue.queue.async { [self] in
      if drainForATurn(of: office) { drain(of: office, on: queue) }
    }
  }

  /// Handles letters for a turn. Returns whether more may be waiting.
  private func drainForATurn(of office: PostOffice) -> Bool {
    guard beginCalling() else { return false }
    for _ in 0..<Self.turn {
      guard let letter = next(of: office) else { return false }
      handle(letter, of: office)
    }
    let last = outgoing.withLock { outgoing in
      defer { (outgoing.current, outgoing.isCalling) = (nil, false) }
      return outgoing.current
    }
    last?.end()
    return true
  }

  /// Claims the home for a drain. Returns false if a thread is already calling here. That thread then starts
  /// another drain.
  private func beginCalling() -> Bool {
    outgoing.withLock { outgoing in
      if outgoing.isCalling { incoming.withLock { $0.isScheduled = false } }
      defer { outgoing.isCalling = true }
      return !outgoing.isCalling
    }
  }

  /// Ends the current letter and dequeues the next one. If there is none, the drain ends, and the next letter
  /// starts another one.
  private func next(of office: PostOffice) -> Letter? {
    // The letter may hold the last references, so it ends with the lock released.
    let (last, letter) = outgoing.withLock { ($0.current, $0.popNext()) }
    last?.end()
    if let letter { return letter }
    return office.withLock { state in
      outgoing.withLock { outgoing in
        outgoing.takeOver(from: incoming)
        if let letter = outgoing.popNext() { return letter }
        incoming.withLock { $0.isScheduled = false }
        outgoing.isCalling = false
        if case .lane(let key) = home { state.removeLane(key) }
        return nil
      }
    }
  }

  /// Discards all letters, because the actor was deallocated.
  private func giveUp(in office: PostOffice) {
    let letters = office.withLock { _ in
      outgoing.withLock { $0.remove { _ in true } }
        + incoming.withLock { incoming in
          incoming.isScheduled = false
          return incoming.take(leaving: [])
        }
    }
    for letter in letters {
      if case .home = letter.addressee { letter.withPost { $0.list.vacateDead(in: self) } }
      letter.end()
    }
  }
}

// MARK: - Calling here

extension Mailbox {
  /// Claims the home for this thread, which runs in it, and handles the waiting letters.
  ///
  /// Returns false if a thread is already calling here: another one, on a concurrent queue, or this one,
  /// further up the stack. Otherwise the caller must call ``leave(of:)``.
  func enter(of office: PostOffice) -> Bool {
    let last: UInt64? = office.withLock { _ in
      outgoing.withLock { outgoing in
        guard !outgoing.isCalling else { return nil }
        outgoing.isCalling = true
        outgoing.takeOver(from: incoming)
        return outgoing.waiting.last?.number ?? 0
      }
    }
    guard let last else { return false }
    // Later letters wait. Otherwise this loop might never end.
    while true {
      let (before, letter) = outgoing.withLock { ($0.current, $0.popNext(upTo: last)) }
      before?.end()
      guard let letter else { return true }
      handle(letter, of: office)
    }
  }

  /// Releases the claim of ``enter(of:)``.
  func leave(of office: PostOffice) {
    let isToBeDrained = outgoing.withLock { outgoing in
      outgoing.isCalling = false
      let isWaiting = !outgoing.waiting.isEmpty
      return incoming.withLock { incoming in
        (isWaiting || !incoming.letters.isEmpty) && incoming.schedule()
      }
    }
    if isToBeDrained { startDrain(of: office) }
  }

  /// Handles a letter as a post: calls its recipients, then delivers the posts that they made.
  private func handle(_ letter: Letter, of office: PostOffice) {
    // Only the thread that calls here ends the current letter, after this. Until then, the letter keeps the
    // post, and the post its list, which a walk does not keep.
    letter.withPost { post in
      office.handle(post, in: self) {
        post.handle(in: home, on: .letter(letter.number)) { call in
          switch letter.addressee {
          case .home:
            var walk = post.list.beginWalk(inGroupOf: self)
            walk.call(letter, call)
          case .everyone:
            var walk = post.list.beginWalk()
            walk.call(letter, call)
          case .one(let registration):
            guard var walk = post.list.beginWalk(at: registration) else { return }
            walk.call(letter, call)
          }
        }
      }
    }
  }
}

// MARK: - Lanes

extension Mailbox {
  private func drainLane(of office: PostOffice) async {
    while let letter = next(of: office) {
      guard case .one(let registration) = letter.addressee else { continue }
      let post = letter.withPost { $0 }
      let cause = Cause(site: post.site, parent: post.parent, recurrences: post.recurrences)
      await AwaitedCall.run(in: self, cause: cause) {
        await post.handle(in: home, registration, letter: letter.number)
      }
    }
  }
}

extension Walk {
  /// Calls the clients of the walk that a letter is for.
  fileprivate mutating func call(_ letter: Letter, _ call: (WeakBox) -> CallOutcome) {
    while let box = next() {
      guard box.number < letter.limit else { continue }
      if case .dead = call(box) { noteDead(box) }
    }
  }
}

extension ClientGroup {
  /// Discards the letters for this group if the group is empty.
  func giveUpLettersIfEmpty(in list: ClientList, of office: PostOffice) {
    let mailbox = mailbox
    guard mailbox.hasLetters else { return }
    // Deallocated clients need no letters.
    list.vacateDead(in: mailbox)
    guard count == 0 else { return }
    mailbox.giveUpLetters(in: office) { letter in
      guard letter.isOf(list) else { return false }
      // Counted again with the office's lock held. A client added meanwhile may have a letter here.
      return switch letter.addressee {
      case .home: list.count(inGroupOf: mailbox) == 0
      case .everyone: list.moment.count == 0
      case .one: false
      }
    }
  }

  var mailbox: Mailbox { unsafe unsafeDowncast(subject, to: Mailbox.self) }
}
