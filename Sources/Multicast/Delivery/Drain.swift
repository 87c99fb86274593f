// What waits in a home that is elsewhere is handled there, by a drain: a task in the actor, a block on the queue, or a task of
// its own for an awaiting client or handler. A drain claims the mailbox, handles batches of letters until none is left, and
// yields after each turn.

import Dispatch

extension PostOffice {
  /// The number of letters that a drain handles before it yields.
  private static var turn: Int { 100 }

  /// The number of letters of others that a posting thread handles before a task goes on.
  private static var turnOfPoster: Int { 1_000 }

  /// Starts to handle the letters in a home. Called with no lock held.
  @inline(never)
  func startDrain(of mailbox: Mailbox) {
    if mailbox.isPostingThread, !drainTurn(of: mailbox, Self.turnOfPoster) { return }
    if isHeld(mailbox) { return }
    // Detached: the task-local values of the first poster are not those of the others.
    let priority = max(Task.currentPriority, .medium)
    switch mailbox.kind {
    case .mainActor:
      // Begins there. Another closure would begin elsewhere and go there.
      let operation: @MainActor @Sendable () async -> Void = { [self] in
        while drainTurn(of: mailbox) { await Task.yield() }
      }
      Task.detached(priority: priority, operation: operation)
    case .actor, .postingThread:
      Task.detached(priority: priority) { [self] in await drain(mailbox, in: mailbox.actor) }
    case .queue(let queue):
      queue.queue.async { [self] in if drainTurn(of: mailbox) { startDrain(of: mailbox) } }
    case .task:
      Task.detached(priority: priority) { [self] in _ = await drainAwaitingTurn(of: mailbox) }
    }
  }

  private func drain(_ mailbox: Mailbox, in isolation: isolated (any Actor)?) async {
    while drainTurn(of: mailbox) { await Task.yield() }
  }

  /// Handles letters in their home for a turn. Returns whether to go on in another one.
  func drainTurn(of mailbox: Mailbox, _ turn: Int = turn) -> Bool {
    // A task for an actor that has ended runs anywhere. It calls nobody.
    let hasEnded = mailbox.hasEnded
    var batch = LetterQueue(), left = turn
    var action = change(mailbox) { $0.claimForDrain(left, into: &batch) }
    while action == .handle {
      left -= batch.count
      while hasEnded, let letter = batch.popFirst() { letter.post.list.findDead(in: letter.boxes) }
      handle(&batch, in: mailbox)
      if left == 0 { return change(mailbox) { $0.release() } == .startDrain }
      action = change(mailbox) { $0.takeNext(left, into: &batch) }
    }
    return false
  }

  /// Handles letters of an awaiting client or handler for a turn. Returns whether to go on in another one.
  func drainAwaitingTurn(of mailbox: Mailbox, _ turn: Int = .max) async -> Bool {
    var batch = LetterQueue(), left = turn
    var action = change(mailbox) { $0.claimForDrain(1, into: &batch) }
    while action == .handle {
      if let letter = batch.popFirst() {
        let isolation =
          mailbox.actor ?? letter.boxes.first?.home?.actor ?? letter.post.isolation
        await handleAwaiting(consume letter, in: mailbox, isolation: isolation)
      }
      left -= 1
      if left == 0 { return change(mailbox) { $0.release() } == .startDrain }
      action = change(mailbox) { $0.takeNext(1, into: &batch) }
    }
    return false
  }

  /// Calls and awaits the client of a letter. Only here, in the actor of the call, is the client loaded, and released what it,
  /// the post and a handler hold.
  private func handleAwaiting(
    _ letter: consuming Letter, in mailbox: Mailbox, isolation: isolated (any Actor)?
  ) async {
    guard let box = letter.boxes.first, box.isRegistered else { return }
    let cause = letter.post.cause
    var waiting = Optional(consume letter)
    await AwaitedCall.run(of: self, in: mailbox, cause: cause) {
      // As part of the call, this lets go of the post. What that holds may post in a `deinit`.
      guard let post = waiting.take()?.post else { return }
      if let trace = unsafe post.trace {
        await trace.reportAwaiting(in: mailbox, client: box.reportedType) {
          await post.callAwaiting(box)
        }
      } else {
        await post.callAwaiting(box)
      }
      if box.load() == nil { post.list.remove(box) }
    }
  }
}
