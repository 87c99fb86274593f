/// A post that waits in a home for its listeners there. A listener that is removed or deallocated meanwhile is not called.
struct Letter {
  let post: Post
  let group: Roster.Group
}

typealias LetterQueue = WaitingQueue<Letter>

/// A home with the letters that wait there. Every home of a box is one: an office makes those of actors, queues and tasks, and a
/// topic that keeps its latest message has one of its own.
///
/// `@unchecked`: only methods of `PostOffice.State` access the variables, and only the thread that holds the office's lock has the
/// office's `State`.
final class Mailbox: Home, @unchecked Sendable {
  // Unchecked: the office's lock is held.
  @exclusivity(unchecked) fileprivate var state = MailboxState<Letter>()

  /// Whether the thread that has the office's lock leaves letters of a post for several homes that are here, and this is one of
  /// them, but not the one that it tries to claim.
  @exclusivity(unchecked) fileprivate var isAlsoHere = false

  /// Stands for the home of a client without one: in reports, and where a function runs in no actor.
  static let anyThread = Mailbox(.postingThread)

  #if DEBUG
    /// Whether it was noted that many letters wait here. The office's lock is held.
    @exclusivity(unchecked) var isCrowdNoted = false
  #endif
}

extension Home {
  /// This home as a mailbox, which every home is.
  final var mailbox: Mailbox { unsafe unsafeDowncast(self, to: Mailbox.self) }
}

extension Roster {
  /// Passes each group and its mailbox to `body`. Retains nothing, because the roster owns its groups, and a group its home.
  @inline(__always)
  func forEachHome(_ body: (Group, Mailbox) -> Void) {
    unsafe groups.withUnsafeBufferPointer { groups in
      for index in groups.indices {
        unsafe Unmanaged.passUnretained(groups[index])._withUnsafeGuaranteedRef { group in
          let mailbox = unsafe Unmanaged.passUnretained(group.home.mailbox)
          unsafe mailbox._withUnsafeGuaranteedRef { body(group, $0) }
        }
      }
    }
  }
}

extension PostOffice.State {
  /// Makes a transition of a mailbox. The caller has the office's lock. Notes whether the mailbox needs a drain and, for
  /// `settled()`, whether it is busy.
  @inline(__always) @discardableResult
  mutating func change(
    _ mailbox: Mailbox, _ transition: (inout MailboxState<Letter>) -> MailboxAction
  ) -> MailboxAction {
    let wasBusy = unsafe mailbox.state.isBusy
    let action = unsafe transition(&mailbox.state)
    if unsafe wasBusy != mailbox.state.isBusy { countBusy(mailbox, !wasBusy) }
    if action == .startDrain { makeAfterUnlock().drains.append(mailbox) }
    return action
  }

  func isAlsoHere(_ mailbox: Mailbox) -> Bool { unsafe mailbox.isAlsoHere }

  func mark(_ mailbox: Mailbox, asAlsoHere isAlsoHere: Bool) {
    unsafe mailbox.isAlsoHere = isAlsoHere
  }

  /// Reads the state of a mailbox. The caller has the office's lock.
  @inline(__always)
  func read<Result>(_ mailbox: Mailbox, _ body: (borrowing MailboxState<Letter>) -> Result)
    -> Result
  {
    unsafe body(mailbox.state)
  }
}

extension PostOffice {
  /// Takes the lock, and makes a transition of a mailbox. If it needs a drain, the drain has started when this returns.
  @inline(__always) @discardableResult
  func lockAndChange(
    _ mailbox: Mailbox, _ transition: (inout MailboxState<Letter>) -> MailboxAction
  ) -> MailboxAction {
    withLock { state in state.change(mailbox, transition) }
  }

  /// Takes the lock, and reads the state of a mailbox.
  @inline(__always)
  func lockAndRead<Result: Sendable>(
    _ mailbox: Mailbox, _ body: (borrowing MailboxState<Letter>) -> Result
  ) -> Result {
    withLock { state in state.read(mailbox, body) }
  }
}
