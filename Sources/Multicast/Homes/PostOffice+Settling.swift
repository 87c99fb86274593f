extension PostOffice {
  /// Waits until no letter waits and no home is at work: no mailbox is busy, which the office counts. Returns whether that
  /// is so: false if the task was cancelled, or if it would wait for itself.
  nonisolated(nonsending) func settled(from site: CallSite) async -> Bool {
    if unsafe DeliveryChain().innermostPost(of: ObjectIdentifier(self)) != nil
      || AwaitedCall.current?.office == ObjectIdentifier(self)
    {
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
      state.lastSettler += 1
      return state.lastSettler
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // The lock's end resumes who need not wait. A cancellation comes before this, or finds it.
        let waiter = Waiter(continuation, in: self)
        withLock { $0.settlers[number] = waiter }
        if Task.isCancelled { stopWaiting(number) }
        scheduler?.beginWait(inCall: false)
      }
    } onCancel: {
      stopWaiting(number)
    }
    return !Task.isCancelled
  }

  private func stopWaiting(_ number: UInt64) {
    _ = withLock { $0.settlers.removeValue(forKey: number) }
  }
}
