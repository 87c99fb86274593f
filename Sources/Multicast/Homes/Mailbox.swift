/// The letters that wait for one home, in the order of their posts.
///
/// There is one mailbox for each home of an office, and in it at most one thread that calls: this, and not
/// the order in which tasks or blocks happen to start, is what keeps the order.
///
/// Locks are taken in this order: the office's; a list's, or a mailbox's for what is being handled, then its
/// other one. Letters are put in and taken over with the office's held, so that the letters of one post appear
/// in all homes at once. The next letter is then taken with a lock that posts do not wait for.
///
/// A mailbox does not know its office, which keeps it: whoever has to do with a mailbox has both.
final class Mailbox: Sendable {
  /// What came in since letters were last taken over.
  private struct Incoming {
    var letters: [Letter] = []

    /// Whether a drain is under way or has been started.
    var isScheduled = false

    mutating func remove(where matches: (Letter) -> Bool) -> [Letter] {
      let removed = letters.filter(matches)
      if !removed.isEmpty { letters.removeAll(where: matches) }
      return removed
    }

    mutating func take(leaving empty: [Letter]) -> [Letter] {
      defer { letters = empty }
      return letters
    }

    /// Returns whether the caller is the one to start a drain.
    mutating func schedule() -> Bool {
      defer { isScheduled = true }
      return !isScheduled
    }
  }

  /// What was taken over.
  private struct Outgoing {
    private(set) var letters: [Letter] = []
    private var next = 0

    /// The letter that is being handled.
    var current: Letter?

    /// Whether a thread is calling clients in this home.
    var isCalling = false

    var waiting: ArraySlice<Letter> { letters[next...] }

    /// Takes over the letters that came in.
    mutating func takeOver(from incoming: borrowing Locked<Incoming>) {
      guard next == letters.count else {
        letters += incoming.withLock { $0.take(leaving: []) }
        return
      }
      // The memory of a backlog goes with it.
      var empty: [Letter] = []
      if letters.capacity <= Mailbox.largestIdleCapacity {
        swap(&empty, &letters)
        empty.removeAll(keepingCapacity: true)
      }
      let spare = empty
      letters = incoming.withLock { $0.take(leaving: spare) }
      next = 0
    }

    mutating func popNext(upTo last: UInt64 = .max) -> Letter? {
      current = nil
      if next < letters.count, letters[next].number <= last {
        current = letters[next]
        next += 1
      } else if next == letters.count, letters.capacity > Mailbox.largestIdleCapacity {
        (letters, next) = ([], 0)
      }
      return current
    }

    /// Puts a letter behind all of smaller numbers, if there are greater ones.
    mutating func insert(_ letter: Letter) -> Bool {
      guard let index = waiting.firstIndex(where: { $0.number > letter.number }) else {
        return false
      }
      letters.insert(letter, at: index)
      return true
    }

    func unhandled(where matches: (Letter) -> Bool) -> [QueuedPost] {
      ([current].compactMap(\.self) + waiting).filter(matches).map { QueuedPost($0) }
    }

    /// Takes letters out that wait.
    mutating func remove(where matches: (Letter) -> Bool) -> [Letter] {
      let removed = waiting.filter(matches)
      if !removed.isEmpty { (letters, next) = (waiting.filter { !matches($0) }, 0) }
      return removed
    }
  }

  private static var largestIdleCapacity: Int { 256 }

  /// How many letters are handled before others in the home have a turn.
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

// MARK: - Putting letters in

extension Mailbox {
  /// Puts a letter in, behind all others. Returns whether the caller must call ``startDrain(of:)``, without a
  /// lock.
  ///
  /// The office's lock is held.
  func put(_ letter: Letter) -> Bool {
    incoming.withLock { incoming in
      incoming.letters.append(letter)
      return incoming.schedule()
    }
  }

  /// Puts a letter in that has waited elsewhere, in the order of the numbers. As ``put(_:)``.
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

  /// Whether letters wait.
  var hasLetters: Bool {
    !incoming.withLock { $0.letters.isEmpty } || !outgoing.withLock { $0.waiting.isEmpty }
  }

  /// Throws away the letters that match, which nobody will be called with: who waits for them is resumed.
  /// Not with a lock held.
  func giveUpLetters(in office: PostOffice, where matches: (Letter) -> Bool) {
    let dropped = office.withLock { _ in
      outgoing.withLock { $0.remove(where: matches) }
        + incoming.withLock { $0.remove(where: matches) }
    }
    for letter in dropped { letter.end() }
  }

  /// The letters that have not been handled and that match, in order, the current one first.
  ///
  /// The office's lock is held.
  func unhandledLetters(where matches: (Letter) -> Bool) -> [QueuedPost] {
    outgoing.withLock { $0.unhandled(where: matches) }
      + incoming.withLock { $0.letters.filter(matches).map { QueuedPost($0) } }
  }
}

// MARK: - Draining

extension Mailbox {
  /// Begins to handle the letters, where this home is.
  func startDrain(of office: PostOffice) {
    // Detached, because the task-local values of whoever posts first are not those of the others.
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

  /// Handles some letters. Returns whether there are more.
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

  /// Claims the home for a drain. If a thread is calling here, the drain ends, and that thread begins
  /// another one.
  private func beginCalling() -> Bool {
    outgoing.withLock { outgoing in
      if outgoing.isCalling { incoming.withLock { $0.isScheduled = false } }
      defer { outgoing.isCalling = true }
      return !outgoing.isCalling
    }
  }

  /// Ends the letter that has been handled, and takes the next one. After nil, the drain has ended: whoever puts
  /// a letter in begins another one.
  private func next(of office: PostOffice) -> Letter? {
    // The letter ends without the lock: what it holds may be the last reference.
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

  /// Throws the letters away: their home has ended.
  private func giveUp(in office: PostOffice) {
    let letters = office.withLock { _ in
      outgoing.withLock { $0.remove { _ in true } }
        + incoming.withLock { incoming in
          incoming.isScheduled = false
          return incoming.take(leaving: [])
        }
    }
    for letter in letters {
      if case .home = letter.addressee { unsafe letter.post.list.vacateDead(in: self) }
      letter.end()
    }
  }
}

// MARK: - Calling here

extension Mailbox {
  /// Claims the home for the current thread, which runs in it, and handles what waits here.
  ///
  /// Returns false if a thread is calling here already: another one, on a concurrent queue, or this one,
  /// further up the stack. After true, ``leave(of:)`` is to be called.
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
    // Letters that come in meanwhile have to wait, or this might never end.
    while true {
      let (before, letter) = outgoing.withLock { ($0.current, $0.popNext(upTo: last)) }
      before?.end()
      guard let letter else { return true }
      handle(letter, of: office)
    }
  }

  /// Ends what ``enter(of:)`` has begun.
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

  /// Handles a letter as a post of its own: calls who it is for, and then delivers what was posted in
  /// these calls.
  private func handle(_ letter: Letter, of office: PostOffice) {
    let post = unsafe letter.post
    let list = post.list
    defer { extendLifetime(list) }
    office.handle(post, in: self) {
      post.handle(in: home, on: .letter(letter.number)) { call in
        switch letter.addressee {
        case .home:
          var walk = list.beginWalk(inGroupOf: self)
          walk.call(letter, call)
        case .everyone:
          var walk = list.beginWalk()
          walk.call(letter, call)
        case .one(let registration):
          guard var walk = list.beginWalk(at: registration) else { return }
          walk.call(letter, call)
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
      let post = unsafe letter.post
      let cause = Cause(site: post.site, parent: post.parent, recurrences: post.recurrences)
      await AwaitedCall.run(in: self, cause: cause) {
        await post.handle(in: home, registration, letter: letter.number)
      }
    }
  }
}

extension Walk {
  /// Calls the clients that the walk comes to and that a letter is for.
  fileprivate mutating func call(_ letter: Letter, _ call: (WeakBox) -> CallOutcome) {
    while let box = next() {
      guard box.number < letter.limit else { continue }
      if case .dead = call(box) { noteDead(box) }
    }
  }
}

extension ClientGroup {
  /// Throws away what waits for this group, if nobody is in there any more.
  func giveUpLettersIfEmpty(in list: ClientList, of office: PostOffice) {
    let mailbox = mailbox
    guard mailbox.hasLetters else { return }
    // Who has ended is not waited for, either.
    list.vacateDead(in: mailbox)
    guard count == 0 else { return }
    mailbox.giveUpLetters(in: office) { letter in
      // Asked again with the office's lock held: who has been added meanwhile may have a letter here.
      guard case .home = letter.addressee, unsafe letter.post.list === list else { return false }
      return list.count(inGroupOf: mailbox) == 0
    }
  }

  /// The mailbox of the home that the clients of this group live in.
  var mailbox: Mailbox { unsafe unsafeDowncast(subject, to: Mailbox.self) }
}
