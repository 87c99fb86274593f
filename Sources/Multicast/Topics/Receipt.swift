/// Resumes who waits for messages to be handled, when the last letter that holds the receipt is gone.
///
/// A letter that is never delivered, because its owner has ended or its observation was cancelled,
/// goes as well, so that nobody waits for ever.
final class Receipt: Sendable {
  private let continuation: CheckedContinuation<Void, Never>

  /// The handler that waits, if it is one.
  private let waiter: Handling?
  private let waitedFor = Locked<[ObjectIdentifier]>([])

  init(_ continuation: CheckedContinuation<Void, Never>) {
    self.continuation = continuation
    waiter = Handling.current.flatMap { $0.isUnderWay ? $0 : nil }
  }

  deinit {
    if let waiter { WaitGraph.removeWaits(of: waiter.observer, for: waitedFor.withLock { $0 }) }
    continuation.resume()
  }

  /// Whether this may wait for an observer: not if its handler waits, directly or not, for the waiter.
  func wait(for observer: ObjectIdentifier) -> Bool {
    guard let waiter else { return true }
    guard WaitGraph.addWait(of: waiter.observer, for: observer) else { return false }
    waitedFor.withLock { $0.append(observer) }
    return true
  }
}
