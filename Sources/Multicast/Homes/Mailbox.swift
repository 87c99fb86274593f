/// The letters that wait for one home, in the order of their posts.
///
/// There is one mailbox for each home of an office, and in it at most one thread that calls: this, and not
/// the order in which tasks or blocks happen to start, is what keeps the order.
///
/// Locks are taken in this order: the office's, a list's or a mailbox's. Letters are put in and taken over
/// with both locks held, so that the letters of one post appear in all homes at once; the next letter is
/// then taken with the mailbox's alone.
final class Mailbox: Sendable {
  private struct Contents {
    /// The letters that came in since letters were last taken over.
    var incoming: [Letter] = []

    /// The letters to be handled next, the other way round.
    var outgoing: [Letter] = []

    /// The letter that is being handled.
    var current: Letter?

    /// Whether a drain is under way or has been started.
    var isScheduled = false

    /// Whether a thread is calling clients in this home.
    var isCalling = false

    var isEmpty: Bool { incoming.isEmpty && outgoing.isEmpty }

    /// Puts a letter behind all of smaller or the same numbers. Nearly always, these are all.
    mutating func insert(_ letter: Letter) {
      if let last = outgoing.first, letter.number < last.number {
        outgoing.insert(
          letter, at: outgoing.firstIndex { $0.number <= letter.number } ?? outgoing.endIndex)
      } else {
        var index = incoming.endIndex
        while index > 0, incoming[index - 1].number > letter.number { index -= 1 }
        incoming.insert(letter, at: index)
      }
    }

    /// Takes over the letters that came in.
    mutating func takeOver() {
      guard !incoming.isEmpty else { return }
      incoming.reverse()
      if outgoing.isEmpty {
        swap(&incoming, &outgoing)
      } else {
        outgoing.insert(contentsOf: incoming, at: 0)
        incoming.removeAll(keepingCapacity: true)
      }
      // The memory of a backlog goes with it.
      if incoming.capacity > Mailbox.largestIdleCapacity { incoming = [] }
    }

    mutating func popNext(upTo last: UInt64 = .max) -> Letter? {
      current = outgoing.last.map { $0.number <= last } == true ? outgoing.popLast() : nil
      if current == nil, outgoing.capacity > Mailbox.largestIdleCapacity { outgoing = [] }
      return current
    }
  }

  private static var largestIdleCapacity: Int { 256 }

  /// How many letters are handled before others in the home have a turn.
  private static var turn: Int { 100 }

  let home: Home
  let office: PostOffice
  private let contents = Locked(Contents())

  init(_ home: Home, of office: PostOffice) {
    self.home = home
    self.office = office
  }
}

// MARK: - Putting letters in

extension Mailbox {
  /// Puts a letter in, in the order of the numbers. Returns whether the caller must call ``startDrain()``,
  /// without a lock.
  ///
  /// The office's lock is held.
  func put(_ letter: Letter, number: UInt64) -> Bool {
    contents.withLock { contents in
      var letter = letter
      letter.number = number
      contents.insert(letter)
      defer { contents.isScheduled = true }
      return !contents.isScheduled
    }
  }

  /// Whether letters wait.
  var hasLetters: Bool { contents.withLock { !$0.isEmpty } }

  /// Throws away the letters that match, which nobody will be called with: who waits for them is resumed.
  /// Not with a lock held.
  func giveUpLetters(where matches: (Letter) -> Bool) {
    let dropped = office.withLock { _ in
      contents.withLock { contents in
        guard !contents.isEmpty else { return [Letter]() }
        let dropped = (contents.outgoing + contents.incoming).filter(matches)
        guard !dropped.isEmpty else { return dropped }
        contents.outgoing.removeAll(where: matches)
        contents.incoming.removeAll(where: matches)
        return dropped
      }
    }
    extendLifetime(dropped)
  }

  /// Calls `body` with each letter that has not been handled, in order, the current one first.
  ///
  /// The office's lock is held.
  func forEachUnhandled(_ body: (Letter) -> Void) {
    contents.withLock { contents in
      if let current = contents.current { body(current) }
      for letter in contents.outgoing.reversed() { body(letter) }
      for letter in contents.incoming { body(letter) }
    }
  }
}

// MARK: - Draining

extension Mailbox {
  /// Begins to handle the letters, where this home is.
  func startDrain() {
    // Detached, because the task-local values of whoever posts first are not those of the others.
    let priority = max(Task.currentPriority, .medium)
    switch home {
    case .actor(let reference):
      guard let actor = reference.actor else { return giveUp() }
      if actor === MainActor.shared {
        Task.detached(priority: priority, operation: drainInMainActor)
      } else {
        Task.detached(priority: priority) { [self] in await drain(in: reference) }
      }
    case .queue(let queue): drain(on: queue)
    case .lane: Task.detached(priority: priority) { [self] in await drainLane() }
    }
  }

  private func drain(in reference: WeakActor) async {
    guard let actor = reference.actor else { return giveUp() }
    await drain(isolation: actor)
  }

  /// Begins there, without a hop.
  @MainActor private func drainInMainActor() async {
    while drainForATurn() { await Task.yield() }
  }

  private func drain(isolation: isolated any Actor) async {
    while drainForATurn() { await Task.yield() }
  }

  private func drain(on queue: MarkedQueue) {
    queue.queue.async { [self] in
      if drainForATurn() { drain(on: queue) }
    }
  }

  /// Handles some letters. Returns whether there are more.
  private func drainForATurn() -> Bool {
    guard beginCalling() else { return false }
    var letter = next()
    for _ in 1..<Self.turn {
      guard let current = letter else { return false }
      handle(current)
      letter = next()
      // It ends here, without the lock: what it holds may be the last reference.
      extendLifetime(current)
    }
    guard let letter else { return false }
    handle(letter)
    contents.withLock { contents in
      contents.current = nil
      contents.isCalling = false
    }
    extendLifetime(letter)
    return true
  }

  /// Claims the home for a drain. If a thread is calling here, the drain ends, and that thread begins
  /// another one.
  private func beginCalling() -> Bool {
    contents.withLock { contents in
      guard !contents.isCalling else {
        contents.isScheduled = false
        return false
      }
      contents.isCalling = true
      return true
    }
  }

  /// Takes the next letter. After nil, the drain has ended: whoever puts a letter in begins another one.
  private func next() -> Letter? {
    if let letter = contents.withLock({ $0.popNext() }) { return letter }
    return office.withLock { state in
      contents.withLock { contents in
        contents.takeOver()
        if let letter = contents.popNext() { return letter }
        contents.isScheduled = false
        contents.isCalling = false
        return nil
      }
    }
  }

  /// Throws the letters away: their home has ended.
  private func giveUp() {
    let letters = office.withLock { _ in
      contents.withLock { contents in
        let letters = (contents.incoming, contents.outgoing)
        (contents.incoming, contents.outgoing, contents.isScheduled) = ([], [], false)
        return letters
      }
    }
    for letter in letters.1 + letters.0 {
      if case .group(let group) = letter.addressee { letter.post.list.vacateDead(in: group) }
    }
    extendLifetime(letters)
  }
}

// MARK: - Calling here

extension Mailbox {
  /// Claims the home for the current thread, which runs in it, and handles what waits here.
  ///
  /// Returns false if a thread is calling here already: another one, on a concurrent queue, or this one,
  /// further up the stack. After true, ``leave()`` is to be called.
  func enter() -> Bool {
    let last: UInt64? = office.withLock { _ in
      contents.withLock { contents in
        guard !contents.isCalling else { return nil }
        contents.isCalling = true
        contents.takeOver()
        return contents.outgoing.first?.number ?? 0
      }
    }
    guard let last else { return false }
    // Letters that come in meanwhile have to wait, or this might never end.
    while let letter = contents.withLock({ $0.popNext(upTo: last) }) {
      handle(letter)
      extendLifetime(letter)
    }
    return true
  }

  /// Ends what ``enter()`` has begun.
  func leave() {
    let isToBeDrained = contents.withLock { contents in
      contents.isCalling = false
      guard !contents.isEmpty, !contents.isScheduled else { return false }
      contents.isScheduled = true
      return true
    }
    if isToBeDrained { startDrain() }
  }

  /// Handles a letter as a post of its own: calls who it is for, and then delivers what was posted in
  /// these calls.
  private func handle(_ letter: Letter) {
    let list = letter.post.list
    defer { extendLifetime(list) }
    office.handle(letter.post, in: self) {
      letter.post.handle(in: home, on: .letter(letter.number)) { call in
        switch letter.addressee {
        case .group(let group):
          var walk = list.beginWalk(in: group)
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
  private func drainLane() async {
    var letter = nextInLane()
    while let current = letter {
      if case .one(let registration) = current.addressee {
        let post = current.post
        let cause = Cause(site: post.site, parent: post.parent, recurrences: post.recurrences)
        await AwaitedCall.run(in: self, cause: cause) {
          await post.handle(in: home, registration, letter: current.number)
        }
      }
      letter = nextInLane()
      extendLifetime(current)
    }
  }

  /// Takes the next letter. After nil, the lane has ended.
  private func nextInLane() -> Letter? {
    if let letter = contents.withLock({ $0.popNext() }) { return letter }
    return office.withLock { state in
      contents.withLock { contents in
        contents.takeOver()
        if let letter = contents.popNext() { return letter }
        contents.isScheduled = false
        if case .lane(let key) = home { state.removeLane(key) }
        return nil
      }
    }
  }
}

extension Walk {
  /// Calls the clients that the walk comes to and that a letter is for.
  fileprivate mutating func call(_ letter: Letter, _ call: (WeakBox) -> CallOutcome) {
    while let box = next() {
      guard letter.range.contains(box.number) else { continue }
      if case .dead = call(box) { noteDead(box) }
    }
  }
}

extension ClientGroup {
  /// Throws away what waits for this group, if nobody is in there any more.
  func giveUpLettersIfEmpty(in list: ClientList) {
    guard mailbox.hasLetters else { return }
    // Who has ended is not waited for, either.
    list.vacateDead(in: self)
    guard count == 0 else { return }
    mailbox.giveUpLetters { letter in
      // Asked again with the office's lock held: who has been added meanwhile may have a letter here.
      if case .group(let group) = letter.addressee { group === self && count == 0 } else { false }
    }
  }

  /// The mailbox of the home that the clients of this group live in.
  var mailbox: Mailbox { unsafe unsafeDowncast(subject, to: Mailbox.self) }
}
