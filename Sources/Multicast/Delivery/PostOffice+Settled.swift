extension PostOffice {
  /// Waits until the center has settled: no letter waits, no home is calling, and no post is under way on any thread.
  ///
  /// Returns false if the task is cancelled, or if a post is calling the code that asks: the task would wait for itself.
  nonisolated(nonsending) func settled(from site: CallSite) async -> Bool {
    let isInPost = unsafe DeliveryChain().outermostPost(of: ObjectIdentifier(self)) != nil
    if isInPost || AwaitedCall.current?.isMade(by: self) == true {
      hintThatSettledWouldWait(at: site)
      return false
    }
    let number = withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waiter = Waiter(continuation, in: self)
        // If the center has settled already, the end of the lock resumes this task.
        withLock { state in
          state.waiters[number] = waiter
          setAwaited(true)
        }
        // A cancellation that came before has found no waiter.
        if Task.isCancelled { stopWaiting(number) }
        scheduler?.beginWait(inCall: false)
      }
    } onCancel: {
      stopWaiting(number)
    }
    return !Task.isCancelled
  }

  private func stopWaiting(_ number: UInt64) {
    let waiter = withLock { state in
      let waiter = state.waiters.removeValue(forKey: number)
      if state.waiters.isEmpty { setAwaited(false) }
      return waiter
    }
    waiter?.resume()
  }
}
