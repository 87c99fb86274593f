/// A task or a thread that waits for a post, or for a center to settle.
///
/// `delivered()` works as follows. A post counts its unfinished parts: one for the delivery on the posting thread, and one for each
/// letter, from the moment at which it is left. `Post.finishPart` ends each part after its last call, and whichever thread ends
/// the last one resumes the task. `delivered()` stores the waiter in the post, and then sets a bit of the same count. So either
/// it finds the count at 0 and does not wait, or the last `finishPart` finds the bit and the waiter. Letters for handlers that
/// observe later belong to posts of their own, and no task waits for these.
final class Waiter: Sendable {
  private let goOn: @Sendable (_ hasHappened: Bool) -> Void
  private let scheduler: (any LetterScheduler)?
  private let isInCall: Bool

  /// - Parameter goOn: Lets the task or the thread go on. It receives whether what it waits for has happened.
  init(in office: PostOffice, _ goOn: @escaping @Sendable (_ hasHappened: Bool) -> Void) {
    self.goOn = goOn
    scheduler = office.scheduler
    // A scheduler counts only the calls of its own center.
    isInCall = scheduler != nil && AwaitedCall.current?.isMade(by: office) == true
  }

  /// Tells the scheduler that the wait begins. Call this once, after ``resume(hasHappened:)`` can be called.
  func begin() { scheduler?.beginWait(inCall: isInCall) }

  /// Ends the wait. Call this once, with no lock held.
  ///
  /// - Parameter hasHappened: False if the wait ends early, because of a cancellation or a time limit.
  func resume(hasHappened: Bool = true) {
    guard let scheduler else { return goOn(hasHappened) }
    scheduler.endWait(inCall: isInCall, early: !hasHappened) { [goOn] in goOn(hasHappened) }
  }
}
