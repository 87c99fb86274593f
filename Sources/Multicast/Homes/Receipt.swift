/// Resumes who waits for a post to be handled, when the last letter that holds the receipt is gone.
///
/// A letter that is given up goes as well, so that nobody waits for ever.
final class Receipt: Sendable {
  private let continuation: CheckedContinuation<Void, Never>

  /// The lane that waits, if it is one.
  private let waiter: Mailbox?

  init(_ continuation: CheckedContinuation<Void, Never>) {
    self.continuation = continuation
    waiter = AwaitedCall.current?.lane
  }

  deinit { continuation.resume() }

  /// What a letter for a lane is to hold: nil if that lane waits, directly or through others, for the one
  /// that wants to wait.
  func wait(for lane: Mailbox) -> (AnyObject & Sendable)? {
    guard let waiter else { return self }
    return Wait(of: waiter, for: lane, receipt: self)
  }
}

/// One lane's wait for one letter in another lane. It ends with that letter.
private final class Wait: Sendable {
  private let waiter: Mailbox
  private let lane: Mailbox
  private let receipt: Receipt

  init?(of waiter: Mailbox, for lane: Mailbox, receipt: Receipt) {
    guard WaitGraph.addWait(of: waiter, for: lane) else { return nil }
    self.waiter = waiter
    self.lane = lane
    self.receipt = receipt
  }

  deinit { WaitGraph.removeWait(of: waiter, for: lane) }
}
