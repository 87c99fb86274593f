/// The letters of one home, in the order of their posts.
///
/// An office has one mailbox for each home. The thread that has claimed it calls the clients of the home, and
/// takes the letters that it handles. Letters that come meanwhile are left for the next claim, or for the next
/// turn of the same one.
///
/// A mailbox does not refer to its office, which owns it.
final class Mailbox: Sendable {
  /// The number of letters that a drain handles before it yields.
  private static var turn: Int { 100 }

  private struct State {
    var letters = LetterQueue()

    /// Whether a thread has claimed the home.
    var isClaimed = false

    /// Whether a drain is scheduled, or has begun.
    var isScheduled = false

    #if DEBUG
      var wasCrowded = false
    #endif
  }

  #if DEBUG
    /// The number of waiting letters that a message tells of, once.
    private static var crowd: Int { 10_000 }
  #endif

  let place: Place
  private let state = OfficeGuarded(State())

  init(_ place: Place) {
    self.place = place
  }
}

// MARK: - With the office's lock held

extension Mailbox {
  func put(_ letter: Letter, _ office: inout PostOffice.State) {
    state.use(&office) { $0.letters.append(letter) }
    #if DEBUG
      let isCrowded = state.use(&office) { state in
        defer { if state.letters.count > Self.crowd { state.wasCrowded = true } }
        return state.letters.count > Self.crowd && !state.wasCrowded
      }
      if isCrowded { office.crowded = self }
    #endif
  }

  /// The number of waiting letters, and the time since the first one was posted, if posts are traced.
  func waiting(_ office: inout PostOffice.State) -> (count: Int, time: DeliveryEvent.Duration?) {
    state.use(&office) { ($0.letters.count, $0.letters.first?.post.trace?.age) }
  }

  /// Notes that a drain is scheduled, if one is needed. Returns whether the caller must start it after unlocking.
  func schedule(_ office: inout PostOffice.State) -> Bool {
    state.use(&office) { state in
      if state.isClaimed || state.isScheduled || state.letters.isEmpty { return false }
      // Every thread that posts handles letters there, and does not rely on another one that is about to.
      if case .postingThread = place { return true }
      state.isScheduled = true
      return true
    }
  }

  /// Claims the home for this thread, which runs in it. Returns nil if a thread has claimed it, another one or
  /// this one further up its stack. Otherwise returns the number of waiting letters.
  func claim(_ office: inout PostOffice.State) -> Int? {
    state.use(&office) { state in
      if state.isClaimed { return nil }
      state.isClaimed = true
      return state.letters.count
    }
  }

  /// Ends a claim. Returns whether the caller must start a drain after unlocking.
  func release(_ office: inout PostOffice.State) -> Bool {
    state.use(&office) { $0.isClaimed = false }
    return schedule(&office)
  }

  /// Whether letters wait here, or a thread or a drain is at work.
  func isBusy(_ office: inout PostOffice.State) -> Bool {
    state.use(&office) { $0.isClaimed || $0.isScheduled || !$0.letters.isEmpty }
  }

  /// Whether a letter can be handled here now.
  func isReady(_ office: inout PostOffice.State) -> Bool {
    state.use(&office) { !$0.isClaimed && !$0.letters.isEmpty }
  }

  /// Takes back that a drain is scheduled. The next letter asks for one again.
  func unschedule(_ office: inout PostOffice.State) {
    state.use(&office) { $0.isScheduled = false }
  }

  func take(_ count: Int, into batch: inout LetterQueue, _ office: inout PostOffice.State) {
    state.use(&office) { $0.letters.takeFirst(count, into: &batch) }
  }

  /// Takes letters for a drain, which has claimed the home unless this is its first batch.
  ///
  /// Returns false if the drain has ended: there are no letters, or another thread has claimed the home and
  /// schedules the next drain when it releases it.
  fileprivate func takeBatch(
    _ limit: Int, into batch: inout LetterQueue, isFirst: Bool, _ office: inout PostOffice.State
  ) -> Bool {
    let (hasTaken, isEmpty) = state.use(&office) { state in
      let isElsewhere = isFirst && state.isClaimed
      guard !isElsewhere, !state.letters.isEmpty else {
        state.isScheduled = false
        if isElsewhere { return (false, false) }
        state.isClaimed = false
        state.letters.reuse(&batch)
        return (false, true)
      }
      state.isClaimed = true
      state.letters.takeFirst(limit, into: &batch)
      return (true, false)
    }
    if isEmpty, case .task(let client?, _) = place { office.removeLane(of: client) }
    return hasTaken
  }

  /// Releases the home before the drain's next turn.
  fileprivate func endTurn(_ office: inout PostOffice.State) {
    state.use(&office) { $0.isClaimed = false }
  }

  /// Takes all letters, because the home has ended.
  fileprivate func takeAll(_ office: inout PostOffice.State) -> LetterQueue {
    state.use(&office) { state in
      state.isScheduled = false
      return exchange(&state.letters, with: LetterQueue())
    }
  }
}

#if DEBUG
  extension Mailbox {
    func tellOfCrowd() {
      let home = place.reported.map { "\($0)" } ?? "the posting thread"
      StandardError.print(
        """
        Multicast: more than \(Self.crowd) letters wait in a home that does not come to them: \(home). Its \
        thread may be blocked, its queue suspended, or nobody may run the main actor. See the letters in wiring.
        """)
    }
  }
#endif

// MARK: - Draining

extension Mailbox {
  /// Starts to handle the letters in this home. Called with no lock held.
  func startDrain(of office: PostOffice) {
    if let scheduler = office.scheduler, place.canBeHeld { return hold(in: office, for: scheduler) }
    // Detached: the task-local values of the first poster are not those of the others.
    let priority = max(Task.currentPriority, .medium)
    switch place {
    case .mainActor:
      let drain: @MainActor @Sendable () async -> Void = { [self] in
        while drainForATurn(of: office) { await Task.yield() }
      }
      Task.detached(priority: priority, operation: drain)
    case .actor(let reference):
      Task.detached(priority: priority) { [self] in
        guard let actor = reference.actor else { return giveUp(of: office) }
        await drain(of: office, isolation: actor)
      }
    case .queue(let queue): drain(of: office, on: queue)
    case .task: Task.detached(priority: priority) { [self] in await drainAwaiting(of: office) }
    case .postingThread: drainHere(of: office)
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

  /// Handles letters for a turn. Returns whether to go on in another one.
  private func drainForATurn(of office: PostOffice) -> Bool {
    var batch = LetterQueue()
    var left = Self.turn
    while office.withLock({ state in
      takeBatch(max(left, 1), into: &batch, isFirst: left == Self.turn, &state)
    }) {
      left -= batch.count
      handle(&batch, of: office)
      if left <= 0 {
        office.withLock { state in endTurn(&state) }
        return true
      }
    }
    return false
  }

  /// Handles the letters on this thread until there are none, unless another thread does.
  private func drainHere(of office: PostOffice) {
    var batch = LetterQueue()
    var isFirst = true
    while office.withLock({ takeBatch(.max, into: &batch, isFirst: isFirst, &$0) }) {
      isFirst = false
      handle(&batch, of: office)
    }
  }

  /// Discards all letters, because the actor was deallocated.
  func giveUp(of office: PostOffice) {
    // The letters may hold the last references, so they end with the lock released.
    var letters = office.withLock { takeAll(&$0) }
    while let letter = letters.popFirst() {
      if case .home = letter.addressee { letter.post.list.vacateDead(at: self) }
    }
  }
}

// MARK: - Handling letters

extension Mailbox {
  /// Handles letters in this home, which this thread has claimed. Each letter ends after its calls.
  func handle(_ batch: inout LetterQueue, of office: PostOffice) {
    while let letter = batch.popFirst() { office.handle(letter, in: self) }
  }

  private func drainAwaiting(of office: PostOffice) async {
    var batch = LetterQueue()
    var isFirst = true
    while office.withLock({ takeBatch(.max, into: &batch, isFirst: isFirst, &$0) }) {
      isFirst = false
      await handleAwaiting(&batch)
    }
  }

  /// Handles letters in this lane, which this task has claimed.
  func handleAwaiting(_ batch: inout LetterQueue) async {
    while let letter = batch.popFirst() {
      await AwaitedCall.run(in: self, cause: letter.post.cause) {
        await letter.callAwaiting(in: self)
      }
    }
  }
}

extension Residents {
  /// The mailbox of the home. Only mailboxes are given to lists.
  var home: Mailbox { unsafe unsafeDowncast(mailbox, to: Mailbox.self) }
}
