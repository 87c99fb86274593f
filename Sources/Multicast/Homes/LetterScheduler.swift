/// Decides when the homes of a center come to their letters. The product for testing has one.
package protocol LetterScheduler: AnyObject, Sendable {
  /// Receives a home in which a letter waits. Returns false if the home may come to it as usual. Called with no lock held,
  /// on the thread that left the letter.
  func hold(_ home: HeldHome) -> Bool

  /// Hears that a task waits until letters have been handled, in a call that is awaited or outside of one.
  func beginWait(inCall isInCall: Bool)

  /// Receives what resumes such a task, when there is nothing to wait for any more. It may come before the beginning.
  func endWait(inCall isInCall: Bool, _ resume: @escaping @Sendable () -> Void)
}

/// A home whose letters are handled when a scheduler says so, one at a time.
package struct HeldHome: Sendable {
  fileprivate let mailbox: Mailbox
  fileprivate let office: PostOffice

  /// Identifies the home among those of a center.
  package var id: ObjectIdentifier { ObjectIdentifier(mailbox) }

  /// Whether a letter waits and nobody is calling there.
  package var isReady: Bool { office.withLock { mailbox.isReady(&$0) } }

  /// Handles all letters as usual.
  package func drain() { mailbox.startDrain(of: office) }

  /// Handles the next letter at home. Returns when that is done, awaited calls included.
  ///
  /// - Parameter note: Receives the number of the delivery and a topic's message before the call, at home.
  package func handleNext(
    _ note: @escaping @Sendable (_ delivery: UInt64, _ message: any Sendable) -> Void
  ) async {
    let mailbox = mailbox, office = office
    let showNext = { @Sendable in
      let post = office.withLock { state in mailbox.next(&state)?.post }
      if let post, let message = post.said { note(unsafe post.trace?.delivery ?? 0, message) }
    }
    let isMore: Bool
    if case .task = mailbox.place {
      showNext()
      isMore = await mailbox.drainAwaiting(turn: 1, of: office)
    } else {
      isMore = await mailbox.place.run {
        showNext()
        return mailbox.drainForATurn(1, of: office)
      }
    }
    if isMore { drain() }
  }
}

extension Mailbox {
  /// Whether a scheduler decides when the next letter is handled. Each further letter asks again.
  func isHeld(in office: PostOffice) -> Bool {
    guard let scheduler = office.scheduler, !place.isPostingThread else { return false }
    office.withLock { unschedule(&$0) }
    return scheduler.hold(HeldHome(mailbox: self, office: office))
  }
}
