/// A post that waits in a mailbox for clients of its list, except those that are removed or deallocated before they are
/// called.
struct Letter {
  let post: Post
  let residents: Roster.Residents

  var boxes: Boxes { residents.boxes }
}

typealias LetterQueue = WaitingQueue<Letter>

extension LetterQueue {
  /// Takes the first letter. The caller lets go of its post, which is retained.
  @inline(__always)
  mutating func takeFirst() -> (post: Unmanaged<Post>, residents: Roster.Residents)? {
    guard let letter = popFirst() else { return nil }
    return unsafe (.passRetained(letter.post), letter.residents)
  }
}

/// A home, with the letters that wait there. An office makes one for each home, and boxes have no other homes.
///
/// Unchecked, because the office's lock protects the state: see ``PostOffice/State/with(_:_:)``.
@usableFromInline
final class Mailbox: Home, @unchecked Sendable {
  // Unchecked: the office's lock is held.
  @exclusivity(unchecked) fileprivate var state = MailboxState<Letter>()
}

extension Home {
  final var mailbox: Mailbox { unsafe unsafeDowncast(self, to: Mailbox.self) }
}

extension Roster {
  /// Passes the clients of each home, and their mailbox, to `body`, without retaining anything.
  @inline(__always)
  func forEachHome(_ body: (Residents, Mailbox) -> Void) {
    unsafe homes.withUnsafeBufferPointer { homes in
      for place in homes.indices {
        unsafe Unmanaged.passUnretained(homes[place])._withUnsafeGuaranteedRef { residents in
          let mailbox = unsafe Unmanaged.passUnretained(residents.home.unsafelyUnwrapped.mailbox)
          unsafe mailbox._withUnsafeGuaranteedRef { body(residents, $0) }
        }
      }
    }
  }
}

extension PostOffice.State {
  /// Makes a transition of a mailbox, or reads its state.
  @inline(__always)
  mutating func with<Result>(
    _ mailbox: Mailbox, _ transition: (inout MailboxState<Letter>) -> Result
  ) -> Result {
    let wasBusy = unsafe mailbox.state.isBusy
    let result = unsafe transition(&mailbox.state)
    if unsafe wasBusy != mailbox.state.isBusy { count(mailbox, isBusy: !wasBusy) }
    return result
  }
}

extension PostOffice {
  /// Makes a transition of a mailbox, or reads its state, with the lock held.
  @inline(__always)
  func change<Result: Sendable>(
    _ mailbox: Mailbox, _ transition: (inout MailboxState<Letter>) -> Result
  ) -> Result {
    withLock { state in state.with(mailbox, transition) }
  }
}
