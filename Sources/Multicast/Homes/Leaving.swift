/// What is to be done when the office's lock has been released, in which a post was left in homes.
///
/// Most of it is nothing, and nothing is to be destroyed then. Mailboxes and clients that are not retained here are those of
/// the post.
@safe
struct Leaving: ~Copyable {
  /// One of the homes that are here.
  private var here: Unmanaged<Mailbox>?

  /// It, if it was claimed, and its clients, who are called without a letter.
  private(set) var claim: (mailbox: Unmanaged<Mailbox>, group: Unmanaged<Roster.Group>)?

  /// One of the homes to start a drain in, retained.
  private(set) var drain: Unmanaged<Mailbox>?

  /// The clients that letters were left for.
  private(set) var count = 0

  private var more: Unmanaged<More>?

  final class More {
    /// The other homes that are here.
    var here: [Mailbox] = []

    /// What waited in the home that was claimed.
    var batch = LetterQueue()

    /// The homes that are here and got a letter.
    var waiting: [Mailbox] = []

    var drains: [Mailbox] = []

    /// Where letters were left for how many, if that is reported.
    var left: [(Mailbox, Int)] = []
  }

  init() {}

  deinit { unsafe more?.release() }

  @inline(__always)
  func withMore(_ body: (More) -> Void) {
    if let more = unsafe more { unsafe more._withUnsafeGuaranteedRef(body) }
  }

  private mutating func make(_ change: (More) -> Void) {
    if unsafe more == nil { unsafe more = .passRetained(More()) }
    withMore(change)
  }

  @inline(__always)
  mutating func addHere(_ mailbox: Mailbox) {
    if unsafe here == nil {
      unsafe here = .passUnretained(mailbox)
    } else {
      make { $0.here.append(mailbox) }
    }
  }

  /// Leaves a letter for clients in a home, or claims the home if it is the first one here. With the lock held.
  ///
  /// The other homes that are here are not claimed, or other threads could not call there while the first is called.
  @inline(__always)
  mutating func put(
    _ post: Post, _ group: Roster.Group, in mailbox: Mailbox, _ state: inout PostOffice.State
  ) {
    let clients = group.boxes.registered
    if clients == 0 { return }
    var isHere = unsafe here?.toOpaque() == Unmanaged.passUnretained(mailbox).toOpaque()
    if isHere, let letters = mailbox.claim(&state) {
      unsafe claim = (.passUnretained(mailbox), .passUnretained(group))
      if letters > 0 { make { mailbox.take(.max, into: &$0.batch, &state) } }
      return
    }
    withMore { more in
      if !isHere, more.here.contains(where: { $0 === mailbox }) {
        isHere = true
        more.waiting.append(mailbox)
      }
    }
    count += clients
    if unsafe post.trace != nil { make { $0.left.append((mailbox, clients)) } }
    mailbox.put((post, group), &state)
    if isHere || !mailbox.schedule(&state) { return }
    if unsafe drain == nil {
      unsafe drain = .passRetained(mailbox)
    } else {
      make { $0.drains.append(mailbox) }
    }
  }
}
