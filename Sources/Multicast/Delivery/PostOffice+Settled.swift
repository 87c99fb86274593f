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
    let number = nextWaiter()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        wait(with: Waiter(continuation, in: self), number: number)
        // A cancellation that came before has found no waiter.
        if Task.isCancelled { stopWaiting(number) }
        scheduler?.beginWait(inCall: false)
      }
    } onCancel: {
      stopWaiting(number)
    }
    return !Task.isCancelled
  }
}

extension PostOffice {
  /// A number for a waiter, to stop its wait.
  private func nextWaiter() -> UInt64 {
    withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
  }

  /// Lets a task wait until the center has settled. If it has, the task is resumed before this returns.
  private func wait(with waiter: Waiter, number: UInt64) {
    withLock { state in
      state.waiters[number] = waiter
      // After the waiter is stored: a frame that ends later finds the mark, and one that has ended is not counted any more.
      activeFrames.setMark(true)
      state.checkWaiters()
    }
  }

  private func stopWaiting(_ number: UInt64) {
    let waiter = withLock { state in
      let waiter = state.waiters.removeValue(forKey: number)
      if state.waiters.isEmpty { activeFrames.setMark(false) }
      return waiter
    }
    waiter?.resume()
  }
}
