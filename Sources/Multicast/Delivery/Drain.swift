// Letters in a home that is elsewhere, or that arrive in one where a thread is calling, are handled by a *drain*: a task in the
// actor, a block on the queue, or, for an awaiting listener, a task of its own. A drain claims the mailbox, and handles batches of
// letters until none waits, but one that does not await yields after each turn, so that other work of the actor or the queue can
// run. If the home is the posting thread, whichever thread would start the drain handles the letters itself: see
// `drainOnPostingThread`.

extension PostOffice {
  /// The number of letters that a drain handles before it yields.
  private static var usualTurn: Int { 100 }

  /// The number of letters that a posting thread handles before a task takes over. Usually other threads have left them.
  private static var postingThreadTurn: Int { 1_000 }

  /// Handles letters whose home is the posting thread, on this thread. After a turn, a task takes over, which happens only if other
  /// threads keep posting.
  func drainOnPostingThread(_ mailbox: Mailbox) {
    if drainTurn(of: mailbox, Self.postingThreadTurn) { startDrain(of: mailbox) }
  }

  /// Starts a drain in a home that is elsewhere, or a task that takes over from the posting thread. Call this with no lock held,
  /// because it may run code of an executor.
  @inline(never)
  func startDrain(of mailbox: Mailbox) {
    if let scheduler, !mailbox.isPostingThread, handOver(mailbox, to: scheduler) { return }
    // Detached, because the task-local values of the thread that has left the first letter are not those of the others.
    let priority = max(Task.currentPriority, .medium)
    switch mailbox.kind {
    case .mainActor:
      // The annotation makes the task start on the main actor. Without it, the task would start on another thread and hop.
      let operation: @MainActor @Sendable () async -> Void = { [self] in
        while drainTurn(of: mailbox) { await Task.yield() }
      }
      Task.detached(priority: priority, operation: operation)
    // If the actor has been deallocated, the task runs in no actor. The claim still makes one call at a time.
    case .actor, .postingThread:
      Task.detached(priority: priority) { [self] in await drainInTask(mailbox, in: mailbox.actor) }
    case .queue(let queue):
      queue.async { [self] in if drainTurn(of: mailbox) { startDrain(of: mailbox) } }
    case .clientTask, .handlerTask:
      Task.detached(priority: priority) { [self] in _ = await drainAwaitingTurn(of: mailbox) }
    }
  }

  private func drainInTask(_ mailbox: Mailbox, in isolation: isolated (any Actor)?) async {
    while drainTurn(of: mailbox) { await Task.yield() }
  }

  /// Handles letters in their home for a turn. Returns whether letters wait for another turn.
  ///
  /// Not inlined. Frames are found by the address of a variable of the thread, and the tasks that call this repeatedly may be on
  /// another thread after each `await`.
  @inline(never)
  func drainTurn(of mailbox: Mailbox, _ turn: Int = usualTurn) -> Bool {
    var batch = LetterQueue()
    var remaining = turn
    var action = lockAndChange(mailbox) { $0.claimForDrain(remaining, into: &batch) }
    while action == .claimed {
      remaining -= batch.count
      handle(&batch, in: mailbox)
      if remaining == 0 { return lockAndChange(mailbox) { $0.endTurn() } == .comeBack }
      action = lockAndChange(mailbox) { $0.takeNextOrEndClaim(remaining, into: &batch) }
    }
    return false
  }
}

// MARK: - Awaiting listeners

extension PostOffice {
  /// Calls and awaits the listener of one letter after the other for a turn, which only a scheduler limits. Returns whether letters
  /// wait for another turn.
  func drainAwaitingTurn(of mailbox: Mailbox, _ turn: Int = .max) async -> Bool {
    var batch = LetterQueue()
    var remaining = turn
    var action = lockAndChange(mailbox) { $0.claimForDrain(1, into: &batch) }
    while action == .claimed {
      if let letter = batch.popFirst() {
        // A letter in a task has one listener. The call is made in the actor of the listener's home, which for a handler's task is
        // the one in which that runs, or else in the actor of `body`.
        let isolation = letter.group.boxes.first?.home?.actor ?? letter.post.isolation
        await handleAwaiting(consume letter, in: mailbox, isolation: isolation)
      }
      remaining -= 1
      if remaining == 0 { return lockAndChange(mailbox) { $0.endTurn() } == .comeBack }
      action = lockAndChange(mailbox) { $0.takeNextOrEndClaim(1, into: &batch) }
    }
    return false
  }

  /// Calls and awaits the listener of a letter. The listener is loaded only here, in the actor of the call, and what the
  /// listener, the post and a handler hold is released here.
  private func handleAwaiting(
    _ letter: consuming Letter, in mailbox: Mailbox, isolation: isolated (any Actor)?
  ) async {
    let box = letter.group.boxes.first
    let post = unsafe Unmanaged.passRetained(letter.post)
    _ = consume letter
    await unsafe AwaitedCall.run(of: post, in: mailbox, by: self) {
      if let box {
        let post = unsafe post.takeUnretainedValue()
        if let trace = unsafe post.trace {
          await trace.traceAwaiting(in: mailbox, client: box.reportedType) {
            await post.callAwaiting(box)
          }
        } else {
          _ = await post.callAwaiting(box)
        }
        // Look into the box, not at the outcome, because the listener may have been deallocated since the call.
        if box.load() == nil { post.list.endRegistration(of: box) }
      }
      // Inside the call: what the post holds may post in a `deinit`, and the call is the cause of that.
      unsafe Post.finishPart(of: post)
    }
  }
}
