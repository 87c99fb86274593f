#if canImport(Dispatch) && !os(WASI)
  import Dispatch
#endif

/// Decides when the homes of a center come to their letters. The product for testing has one.
package protocol LetterScheduler: AnyObject, Sendable {
  /// Receives a home in which a letter waits. Called with no lock held, on the thread that left the letter.
  func hold(_ home: HeldHome)
}

/// A home whose letters are handled when a scheduler says so, one at a time.
package struct HeldHome: Sendable {
  /// Where the scheduler makes it handle a letter.
  package enum Kind: Sendable {
    case mainActor

    /// An actor, which may have ended, and whether it has an executor of its own.
    case actor((any Actor)?, hasOwnExecutor: Bool)

    case queue(DispatchQueue)

    /// A task that awaits its calls.
    case task
  }

  private let mailbox: Mailbox
  private let office: PostOffice

  fileprivate init(_ mailbox: Mailbox, of office: PostOffice) {
    self.mailbox = mailbox
    self.office = office
  }

  /// Identifies the home among those of a center.
  package var id: ObjectIdentifier { ObjectIdentifier(mailbox) }

  package var kind: Kind {
    switch mailbox.place {
    case .mainActor: .mainActor
    case .actor(let reference):
      .actor(reference.actor, hasOwnExecutor: reference.actor?.hasOwnExecutor ?? false)
    case .queue(let queue): .queue(queue.queue)
    case .task, .postingThread: .task
    }
  }

  /// Whether a letter waits and nobody is calling there.
  package var isReady: Bool { office.withLock { mailbox.isReady(&$0) } }

  /// Whether this thread runs in the main actor, as far as that is known.
  package static var isOnMainActor: Bool { Place.mainActor.isCurrent(from: nil) }

  /// Whether this thread runs in the home, as far as that is known.
  package var isCurrent: Bool { mailbox.place.isCurrent(from: nil) }

  /// Handles the next letter on this thread, which runs in the home.
  package func handleNext() {
    var batch = LetterQueue()
    guard take(into: &batch) else { return }
    office.handle(&batch, in: mailbox)
    release()
  }

  /// Handles the next letter of a home that awaits.
  package func handleNextAwaiting() async {
    var batch = LetterQueue()
    guard take(into: &batch) else { return }
    if let (post, group) = unsafe batch.takeFirst() {
      unsafe await mailbox.handleAwaiting(post, group.boxes, of: office)
    }
    release()
  }

  /// Discards the letters of an actor that has ended.
  package func discardAll() { mailbox.giveUp(of: office) }

  private func take(into batch: inout LetterQueue) -> Bool {
    office.withLock { state in
      guard mailbox.isReady(&state), mailbox.claim(&state) != nil else { return false }
      mailbox.take(1, into: &batch, &state)
      return true
    }
  }

  private func release() {
    if mailbox.release(of: office) { mailbox.startDrain(of: office) }
  }
}

extension Mailbox {
  /// Leaves it to a scheduler when the next letter is handled. Each further letter tells it again.
  func hold(in office: PostOffice, for scheduler: any LetterScheduler) {
    office.withLock { unschedule(&$0) }
    scheduler.hold(HeldHome(self, of: office))
  }
}
