/// Resumes who waits for a post to be handled, when the last letter that holds the receipt is gone.
///
/// A letter that is given up goes as well, so that nobody waits for ever.
final class Receipt: Sendable {
  private let continuation: CheckedContinuation<Void, Never>

  /// The awaited call that waits, if it is one.
  private let waiter: AwaitedCall?

  init(_ continuation: CheckedContinuation<Void, Never>) {
    self.continuation = continuation
    waiter = AwaitedCall.current
  }

  deinit { continuation.resume() }

  /// What a letter for a lane is to hold: nil if that lane waits, directly or through others, for the one
  /// that wants to wait.
  func wait(for lane: Mailbox) -> (AnyObject & Sendable)? {
    guard let waiter else { return self }
    return Wait(of: waiter, for: lane, receipt: self)
  }
}

/// One call's wait for one letter in a lane. It ends with that letter.
private final class Wait: Sendable {
  private let waiter: AwaitedCall
  private let lane: Mailbox
  private let receipt: Receipt

  init?(of waiter: AwaitedCall, for lane: Mailbox, receipt: Receipt) {
    guard WaitGraph.addWait(of: waiter, for: lane) else { return nil }
    self.waiter = waiter
    self.lane = lane
    self.receipt = receipt
  }

  deinit { WaitGraph.removeWait(of: waiter, for: lane) }
}
