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
