extension PostOffice {
  /// Waits until no letter waits and no home is at work: no mailbox is busy, which the office counts. Returns whether that
  /// is so: false if the task was cancelled, or if it would wait for itself.
  nonisolated(nonsending) func settled(from site: CallSite) async -> Bool {
    let id = ObjectIdentifier(self)
    if unsafe DeliveryChain().outermostPost(of: id) != nil || AwaitedCall.current?.office == id {
      #if DEBUG
        StandardError.tell(
          of: site,
          """
          settled() was called at \(site), inside of a post's call to a client or a handler. It would \
          wait for itself, so it returned at once. Call it where no post calls, as in a test or at shutdown.
          """)
      #endif
      return false
    }
    let number = withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // If nothing is busy, the end of the lock resumes this task. A cancellation comes before this, or finds it.
        let waiter = Waiter(continuation, in: self)
        withLock { $0.waiters[number] = waiter }
        if Task.isCancelled { stopWaiting(number) }
        scheduler?.beginWait(inCall: false)
      }
    } onCancel: {
      stopWaiting(number)
    }
    return !Task.isCancelled
  }

  private func stopWaiting(_ number: UInt64) {
    _ = withLock { $0.waiters.removeValue(forKey: number) }
  }
}
