/// A task that waits for a post, or for a center to settle.
///
/// `delivered()` works as follows. A post counts its unfinished parts: one for the delivery on the posting thread, and one for each
/// letter, from the moment at which it is left. `Post.finish` ends each part after its last call, and whichever thread ends
/// the last one resumes the task. `delivered()` stores the waiter in the post, and then sets a bit of the same count. So either
/// it finds the count at 0 and does not wait, or the last `finish` finds the bit and the waiter. Letters for handlers that
/// observe later belong to posts of their own, and no task waits for these.
final class Waiter: Sendable {
  private let continuation: CheckedContinuation<Void, Never>
  private let scheduler: (any LetterScheduler)?
  private let isInCall: Bool

  init(_ continuation: CheckedContinuation<Void, Never>, in office: PostOffice) {
    self.continuation = continuation
    scheduler = office.scheduler
    isInCall = scheduler != nil && AwaitedCall.current != nil
  }

  /// Resumes the task. Called once, with no lock held.
  func resume() {
    guard let scheduler else { return continuation.resume() }
    scheduler.endWait(inCall: isInCall) { [continuation] in continuation.resume() }
  }
}
