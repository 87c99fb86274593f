/// Decides when the letters of a center's homes are handled. The product for testing has one.
package protocol LetterScheduler: AnyObject, Sendable {
  /// Receives a home in which a letter waits. Returns false if the letter may be handled as usual. Called with no lock held,
  /// on the thread that left the letter.
  func hold(_ home: HeldHome) -> Bool

  /// A task begins to wait until letters have been handled, in a call that is awaited or outside of one.
  func beginWait(inCall isInCall: Bool)

  /// Receives what resumes such a task, when there is nothing to wait for any more. This may come before the beginning.
  func endWait(inCall isInCall: Bool, _ resume: @escaping @Sendable () -> Void)
}

/// A home whose letters are handled when a scheduler says so, one at a time.
package struct HeldHome: Sendable {
  fileprivate let mailbox: Mailbox
  fileprivate let office: PostOffice

  /// Identifies the home among those of a center.
  package var id: ObjectIdentifier { ObjectIdentifier(mailbox) }

  /// Whether a letter waits and nobody is calling there.
  package var isReady: Bool { office.read(mailbox) { $0.isReady } }

  /// Handles all letters as usual.
  package func handleAll() { office.startDrain(of: mailbox) }

  /// Handles the next letter at home. Returns when that is done, awaited calls included.
  ///
  /// - Parameter note: Receives the number of the delivery and a topic's message before the call, at home.
  package func handleNext(
    _ note: @escaping @Sendable (_ delivery: UInt64, _ message: any Sendable) -> Void
  ) async {
    let mailbox = mailbox, office = office
    let showNext = { @Sendable in
      let post = office.read(mailbox) { $0.letters.first?.post }
      if let post, let message = post.said { note(unsafe post.trace?.delivery ?? 0, message) }
    }
    let isMore: Bool
    if case .task = mailbox.kind {
      showNext()
      isMore = await office.drainAwaitingTurn(of: mailbox, 1)
    } else {
      isMore = await mailbox.run {
        showNext()
        return office.drainTurn(of: mailbox, 1)
      }
    }
    if isMore { handleAll() }
  }
}

extension PostOffice {
  /// Whether a scheduler decides when the next letter is handled. Each further letter asks again.
  func isHeld(_ mailbox: Mailbox) -> Bool {
    guard let scheduler, !mailbox.isPostingThread else { return false }
    change(mailbox) { state in
      state.unscheduleDrain()
      return .nothing
    }
    return scheduler.hold(HeldHome(mailbox: mailbox, office: self))
  }
}
