// A center is settled when every mailbox is idle. So who waits leaves a marker, a letter for nobody, in each
// mailbox that is not, and looks again when all markers were handled. Posts pay nothing for this.

extension PostOffice {
  /// Waits until no letter waits and no home is at work. Returns whether that is so: false if the task was
  /// cancelled, or if it would wait for itself.
  nonisolated(nonsending) func settled(from site: CallSite) async -> Bool {
    if isInsideOfCall {
      #if DEBUG
        StandardError.print(
          """
          Multicast: settled() was called at \(site), inside of a post's call to a client or a handler. It would \
          wait for itself, so it returned at once. Call it where no post calls, as in a test or at shutdown.
          """)
      #endif
      return false
    }
    while !Task.isCancelled {
      let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
      if takeTurn(WaitEnd(continuation)) {
        defer { endTurn() }
        return await settledInTurn(from: site)
      }
      for await _ in stream {}
    }
    return false
  }

  private nonisolated(nonsending) func settledInTurn(from site: CallSite) async -> Bool {
    while !Task.isCancelled {
      let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
      if !leaveMarkers(from: site, WaitEnd(continuation)) { return true }
      for await _ in stream {}
    }
    return false
  }

  /// Those who wait until all is settled take turns, because each takes the markers of others for work. If it is
  /// another one's turn, that one's end releases `end`.
  private func takeTurn(_ end: WaitEnd) -> Bool {
    withLock { state in
      if state.settlers == nil {
        state.settlers = []
        return true
      }
      state.settlers?.append(end)
      return false
    }
  }

  private func endTurn() {
    // Released with the lock released.
    extendLifetime(withLock { state in state.settlers.take() })
  }

  /// Whether a post of this office is calling on this thread, or has called this task.
  private var isInsideOfCall: Bool {
    if unsafe DeliveryChain().innermostPost(of: ObjectIdentifier(self)) != nil { return true }
    guard let lane = AwaitedCall.current?.lane else { return false }
    return withLock { state in allMailboxes(state).contains { $0 === lane } }
  }

  /// Leaves a marker in each mailbox that is not idle. Returns whether there is one.
  private func leaveMarkers(from site: CallSite, _ end: WaitEnd) -> Bool {
    let nobody = ClientList(stride: WeakBox.stride(for: AnyObject.self), hasCompanions: false)
    let post = Post(
      Posting(to: nobody, from: site, isolation: nil),
      Post.Origin(limit: 0, parent: nil, recurrences: nil, trace: nil),
      call: { _, _, _ in .skipped })
    return withLock { state in
      // Who has claimed a mailbox, or has just put a letter there, sees to its letters.
      let busy = allMailboxes(state).filter { $0.isBusy(&state) }
      for mailbox in busy {
        mailbox.put(Letter(post: post, receipt: end, addressee: .everyone(before: 0)), &state)
      }
      return !busy.isEmpty
    }
  }
}

/// Finishes a stream when nobody refers to it any more.
private final class WaitEnd: Sendable {
  let continuation: AsyncStream<Never>.Continuation

  init(_ continuation: AsyncStream<Never>.Continuation) {
    self.continuation = continuation
  }

  deinit { continuation.finish() }
}
