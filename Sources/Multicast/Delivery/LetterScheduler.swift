/// Decides when the letters of a center's homes are handled. MulticastTesting has one, which explores orders.
package protocol LetterScheduler: AnyObject, Sendable {
  /// Receives a home in which a letter waits, on the thread that has left it, with no lock held. Returns false if a drain may
  /// handle the letter as usual.
  func hold(_ home: HeldHome) -> Bool

  /// A task or a thread begins to wait until letters have been handled.
  ///
  /// - Parameter isInCall: Whether the task is part of an awaited call.
  func beginWait(inCall isInCall: Bool)

  /// Receives what resumes such a task, once there is nothing left to wait for. This may come before ``beginWait(inCall:)``.
  ///
  /// - Parameter isEarly: Whether a cancellation or a time limit ends the wait. Then the task is resumed before this returns.
  func endWait(
    inCall isInCall: Bool, early isEarly: Bool, _ resume: @escaping @Sendable () -> Void)
}

/// A home whose letters a scheduler handles, one at a time.
package struct HeldHome: Sendable {
  fileprivate let mailbox: Mailbox
  fileprivate let office: PostOffice

  /// Identifies the home among those of a center.
  package var id: ObjectIdentifier { ObjectIdentifier(mailbox) }

  /// Whether a letter waits and no thread is calling there.
  package var isReady: Bool { office.lockAndRead(mailbox) { $0.isReady } }

  /// Offers the home to the scheduler again. If the scheduler does not hold it, a drain handles all letters.
  package func startDrain() { office.startDrain(of: mailbox) }

  /// Handles the next letter in its home. Returns when its calls have returned, including awaited ones.
  ///
  /// - Parameter note: Receives the number of the delivery and a topic's message, before the calls.
  package func handleNext(
    _ note: @escaping @Sendable (_ delivery: UInt64, _ message: any Sendable) -> Void
  ) async {
    let mailbox = mailbox, office = office
    let showNext = { @Sendable in
      let post = office.lockAndRead(mailbox) { $0.letters.first?.post }
      if let post, let message = post.anyMessage { note(unsafe post.trace?.delivery ?? 0, message) }
    }
    let isMore: Bool
    if mailbox.isTask {
      showNext()
      isMore = await office.drainAwaitingTurn(of: mailbox, 1)
    } else {
      isMore = await mailbox.run {
        showNext()
        return office.drainTurn(of: mailbox, 1)
      }
    }
    if isMore { startDrain() }
  }
}

extension PostOffice {
  /// Removes the deallocated clients of a full list, and lets it grow: see ``ClientList/makeRoom()``.
  func makeRoom(in list: ClientList) {
    if !list.makeRoom() { removeDeallocatedElsewhere(in: list) }
  }

  /// Removes deallocated clients whose homes are elsewhere. With a scheduler, it leaves them to the next delivery: no seed decides
  /// when such a search runs, and the homes of the next letters would depend on it.
  func removeDeallocatedElsewhere(in list: ClientList) {
    if scheduler == nil { list.removeDeallocatedElsewhere() }
  }

  /// Hands a home in which a letter waits over to a scheduler. Returns false if a drain may handle the letter as usual. The
  /// scheduler is asked again for each later letter.
  func handOver(_ mailbox: Mailbox, to scheduler: any LetterScheduler) -> Bool {
    lockAndChange(mailbox) { state in
      state.unscheduleDrain()
      return .nothing
    }
    return scheduler.hold(HeldHome(mailbox: mailbox, office: self))
  }
}
