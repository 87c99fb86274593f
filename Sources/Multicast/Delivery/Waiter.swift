/// Resumes a task when it is released.
final class Waiter: Sendable {
  private let continuation: CheckedContinuation<Void, Never>
  private let scheduler: (any LetterScheduler)?
  private let isInCall: Bool

  init(_ continuation: CheckedContinuation<Void, Never>, in office: PostOffice) {
    self.continuation = continuation
    scheduler = office.scheduler
    isInCall = scheduler != nil && AwaitedCall.current != nil
  }

  deinit {
    guard let scheduler else { return continuation.resume() }
    scheduler.endWait(inCall: isInCall) { [continuation] in continuation.resume() }
  }
}
