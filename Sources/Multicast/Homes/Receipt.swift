/// Resumes a waiting poster when the last letter that holds the receipt ends.
final class Receipt: Sendable {
  private let continuation: CheckedContinuation<Void, Never>

  /// The awaited call that waits; nil if none does.
  private let waiter: AwaitedCall?

  init(_ continuation: CheckedContinuation<Void, Never>) {
    self.continuation = continuation
    waiter = AwaitedCall.current
  }

  deinit { continuation.resume() }

  /// What a letter holds. Nil in a lane that waits for the waiting call, directly or through others.
  func held(in mailbox: Mailbox) -> (AnyObject & Sendable)? {
    guard let waiter, case .task = mailbox.place else { return self }
    return LaneReceipt(of: waiter, for: mailbox, receipt: self)
  }
}

/// One call's wait for one letter in a lane.
private final class LaneReceipt: Sendable {
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
