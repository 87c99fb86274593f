extension Mailbox {
  /// The number of letters that a drain handles before it yields.
  private static var turn: Int { 100 }

  /// The number of letters of others that a poster handles before a task goes on.
  private static var favor: Int { 1_000 }

  /// Starts to handle the letters in this home. Called with no lock held.
  @inline(never)
  func startDrain(of office: PostOffice) {
    if place.isPostingThread, !drainForATurn(Self.favor, of: office) { return }
    if isHeld(in: office) { return }
    // Detached: the task-local values of the first poster are not those of the others.
    let priority = max(Task.currentPriority, .medium)
    switch place {
    case .mainActor:
      // Begins there. Another closure would begin elsewhere and go there.
      let drain: @MainActor @Sendable () async -> Void = { [self] in
        while drainForATurn(of: office) { await Task.yield() }
      }
      Task.detached(priority: priority, operation: drain)
    case .actor, .postingThread:
      Task.detached(priority: priority) { [self] in
        await drain(of: office, isolation: place.actor)
      }
    case .queue(let queue):
      queue.queue.async { [self] in if drainForATurn(of: office) { startDrain(of: office) } }
    case .task:
      Task.detached(priority: priority) { [self] in _ = await drainAwaiting(turn: .max, of: office)
      }
    }
  }

  private func drain(of office: PostOffice, isolation: isolated (any Actor)?) async {
    while drainForATurn(of: office) { await Task.yield() }
  }

  /// Handles letters for a turn. Returns whether to go on in another one.
  func drainForATurn(_ turn: Int = turn, of office: PostOffice) -> Bool {
    // What asks for an actor that has ended gets none, and runs anywhere.
    let hasEnded = if case .actor(let reference) = place { reference.actor == nil } else { false }
    var batch = LetterQueue(), left = turn
    var isAtWork = office.withLock { claimForDrain(&$0) && takeOrRelease(left, into: &batch, &$0) }
    while isAtWork {
      left -= batch.count
      while hasEnded, let letter = batch.popFirst() {
        letter.post.list.findDead(in: letter.group.boxes)
      }
      office.handle(&batch, in: self)
      if left == 0 { return release(of: office) }
      isAtWork = office.withLock { takeOrRelease(left, into: &batch, &$0) }
    }
    return false
  }

  /// Handles so many letters of who awaits. Returns whether to go on in another turn.
  func drainAwaiting(turn: Int, of office: PostOffice) async -> Bool {
    var batch = LetterQueue()
    var left = turn
    var isAtWork = office.withLock { claimForDrain(&$0) && takeOrRelease(1, into: &batch, &$0) }
    while isAtWork {
      if let (post, group) = unsafe batch.takeFirst() {
        unsafe await handleAwaiting(post, group.boxes, of: office)
      }
      left -= 1
      if left == 0 { return release(of: office) }
      isAtWork = office.withLock { takeOrRelease(1, into: &batch, &$0) }
    }
    return false
  }

  /// Claims the home for a drain. Returns false if another thread has claimed it, which sees to the letters.
  private func claimForDrain(_ state: inout PostOffice.State) -> Bool {
    unschedule(&state)
    return claim(&state) != nil
  }

  /// Ends a claim. Returns whether a drain is to be started.
  func release(of office: PostOffice) -> Bool { office.withLock { release(&$0) } }

  /// Handles a letter in this lane, which this task has claimed. Releases the post.
  func handleAwaiting(_ post: Unmanaged<Post>, _ boxes: Boxes, of office: PostOffice) async {
    let isolation =
      unsafe place.actor ?? boxes.first?.home?.place.actor
      ?? post._withUnsafeGuaranteedRef { $0.isolation }
    unsafe await handleAwaiting(post, boxes, of: office, in: isolation)
  }

  /// Only here, in the actor of the call, clients are loaded, and what they, the post and a handler hold is released.
  private func handleAwaiting(
    _ post: Unmanaged<Post>, _ boxes: Boxes, of office: PostOffice,
    in isolation: isolated (any Actor)?
  ) async {
    guard let box = boxes.first, box.isRegistered else { return unsafe post.release() }
    await AwaitedCall.run(of: office, in: self, cause: unsafe post.takeUnretainedValue().cause) {
      await handleAwaiting(unsafe post.takeUnretainedValue(), box)
      if box.load() == nil { _ = unsafe post._withUnsafeGuaranteedRef { $0.list.remove(box) } }
      // As part of the call, which is the cause of what is posted then.
      unsafe post.release()
    }
  }

  private nonisolated(nonsending) func handleAwaiting(_ post: Post, _ box: WeakBox) async {
    guard let trace = unsafe post.trace else { return await post.callAwaiting(box) }
    await trace.handle(in: place, client: box.reportedType) { await post.callAwaiting(box) }
  }
}
