#if canImport(Dispatch)
  import Dispatch
#endif

extension PostOffice {
  /// Waits until the center has settled: no letter waits, no home is calling, and no post is under way on any thread.
  ///
  /// Returns false if the task is cancelled, if the number of seconds has passed, or if a post is calling the code that asks: the
  /// task would wait for itself.
  nonisolated(nonsending) func settled(within seconds: Double, from site: CallSite) async -> Bool {
    check(seconds, of: "settled(within:)", at: site)
    if isCallingThisCode {
      hintThatSettledWouldWait("settled()", at: site)
      return false
    }
    let number = nextWaiter()
    var limit: TimeLimit?
    let hasSettled = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waiter = Waiter(in: self) { hasSettled in continuation.resume(returning: hasSettled) }
        addWaiter(waiter, number: number)
        // A cancellation that came before has found no waiter. A limit of 0 asks only whether the center has settled.
        if Task.isCancelled || seconds <= 0 {
          stopWaiting(number)
        } else if seconds < .infinity {
          limit = TimeLimit(seconds: seconds) { [self] in stopWaiting(number) }
        }
        waiter.begin()
      }
    } onCancel: {
      stopWaiting(number)
    }
    limit?.cancel()
    return hasSettled && !Task.isCancelled
  }

  /// Whether a post of this office is calling the code that runs, so that a wait for the post would never end.
  private var isCallingThisCode: Bool {
    unsafe DeliveryChain().outermostPostFrame(of: ObjectIdentifier(self)) != nil
      || AwaitedCall.current?.isMade(by: self) == true
  }
}

#if canImport(Dispatch)
  extension PostOffice {
    /// Blocks this thread until the center has settled. Returns false if the number of seconds has passed, or if a post is calling
    /// the code that asks.
    func waitUntilSettled(within seconds: Double, from site: CallSite) -> Bool {
      check(seconds, of: "waitUntilSettled(within:)", at: site)
      if isCallingThisCode {
        hintThatSettledWouldWait("waitUntilSettled(within:)", at: site)
        return false
      }
      let number = nextWaiter()
      let settled = DispatchSemaphore(value: 0)
      let waiter = Waiter(in: self) { _ in settled.signal() }
      addWaiter(waiter, number: number)
      waiter.begin()
      if settled.wait(timeout: .now() + seconds) == .success { return true }
      stopWaiting(number)
      if seconds > 0 { hintAtLettersHere(at: site) }
      return false
    }
  }
#endif

extension PostOffice {
  /// Stops the program if a time limit is not a number: it would never pass.
  private func check(_ seconds: Double, of function: String, at site: CallSite) {
    if seconds.isNaN {
      fatalError(
        "Multicast: the time limit of \(function) is not a number; use seconds, or .infinity for no limit",
        file: site.file, line: UInt(clamping: site.line))
    }
  }

  /// A number for a waiter, to stop its wait.
  private func nextWaiter() -> UInt64 {
    withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
  }

  /// Lets a task or a thread wait until the center has settled. If it has, it is resumed before this returns.
  private func addWaiter(_ waiter: Waiter, number: UInt64) {
    withLock { state in
      state.waiters[number] = waiter
      // After the waiter is stored: a frame that ends later finds the mark, and one that has ended is no longer counted.
      activeFrames.setMark(true)
      state.resumeWaitersIfSettled()
    }
  }

  private func stopWaiting(_ number: UInt64) {
    let waiter = withLock { state in
      let waiter = state.waiters.removeValue(forKey: number)
      if state.waiters.isEmpty { activeFrames.setMark(false) }
      return waiter
    }
    waiter?.resume(hasHappened: false)
  }
}
