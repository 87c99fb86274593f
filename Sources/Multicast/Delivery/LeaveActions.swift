/// What remains to be done after a post was left in mailboxes, when the office's lock has been released.
///
/// Usually a post concerns one home, and then these are a few pointers. Homes that are here and their clients are not
/// retained, because the post has them. What is rare is in one object, which is made when it is needed. Otherwise each post
/// would destroy a handful of empty lists, which costs more than the call of a client.
@safe
struct LeaveActions: ~Copyable {
  /// The first of the homes in which this thread runs. Known before the lock is taken.
  private var here: Unmanaged<Mailbox>?

  /// If it was claimed, its clients, who are called without a letter.
  fileprivate var claimed: Unmanaged<Roster.Residents>?

  /// The first of the homes where to start a drain. Retained.
  private var drain: Unmanaged<Mailbox>?

  /// The latest post that a kept one has replaced, and the clients that this is for, to release at the end. Retained.
  private var replaced: Unmanaged<Post>?
  private var roster: Unmanaged<Roster>?

  /// The number of clients for whom letters were left.
  fileprivate(set) var clients = 0

  private var rare: Unmanaged<Rare>?

  fileprivate final class Rare {
    /// The other homes in which this thread runs.
    var here: [Mailbox] = []

    /// Those of them that have got a letter.
    var waiting: [Mailbox] = []

    /// What waited in the home that was claimed.
    var earlier = LetterQueue()

    /// The other homes where to start a drain.
    var drains: [Mailbox] = []

    /// Where letters were left, and for how many clients, if that is reported.
    var left: [(mailbox: Mailbox, clients: Int)] = []
  }

  init() {}

  deinit {
    unsafe drain?.release()
    unsafe replaced?.release()
    unsafe roster?.release()
    unsafe rare?.release()
  }
}

// MARK: - With the office's lock held, or before

extension LeaveActions {
  @inline(__always)
  mutating func addHere(_ mailbox: Mailbox) {
    if unsafe here == nil {
      unsafe here = .passUnretained(mailbox)
    } else {
      makeRare { $0.here.append(mailbox) }
    }
  }

  /// Holds what a kept post has replaced, and those whom it is for, until all is done.
  @inline(__always)
  mutating func hold(_ replaced: consuming Post?, _ roster: consuming Roster) {
    if let replaced { unsafe self.replaced = .passRetained(replaced) }
    unsafe self.roster = .passRetained(roster)
  }

  @inline(__always)
  fileprivate func isFirstHere(_ mailbox: Mailbox) -> Bool {
    unsafe here?.toOpaque() == Unmanaged.passUnretained(mailbox).toOpaque()
  }

  @inline(__always)
  fileprivate mutating func addDrain(_ mailbox: Mailbox) {
    if unsafe drain == nil {
      unsafe drain = .passRetained(mailbox)
    } else {
      makeRare { $0.drains.append(mailbox) }
    }
  }

  /// Notes a home that gets a letter. Returns whether it is one of the others that are here, where this thread handles it.
  @inline(__always)
  fileprivate func addWaiting(_ mailbox: Mailbox) -> Bool {
    var isHere = false
    withRare { rare in
      isHere = rare.here.contains { $0 === mailbox }
      if isHere { rare.waiting.append(mailbox) }
    }
    return isHere
  }

  @inline(__always)
  private func withRare(_ body: (Rare) -> Void) {
    if let rare = unsafe rare { unsafe rare._withUnsafeGuaranteedRef(body) }
  }

  @inline(never)
  fileprivate mutating func makeRare(_ change: (Rare) -> Void) {
    if unsafe rare == nil { unsafe rare = .passRetained(Rare()) }
    withRare(change)
  }
}

extension PostOffice.State {
  /// Puts a letter in a mailbox, or claims the mailbox if it is the first one that is here.
  ///
  /// The other homes that are here are not claimed, or other threads could not call there while the first is called.
  @inline(__always)
  mutating func put(
    _ post: Post, for residents: Roster.Residents, in mailbox: Mailbox,
    _ actions: inout LeaveActions
  ) {
    let clients = residents.boxes.registered
    if clients == 0 { return }
    let isFirst = actions.isFirstHere(mailbox)
    if isFirst, claim(mailbox, &actions) {
      return unsafe actions.claimed = .passUnretained(residents)
    }
    actions.clients += clients
    if unsafe post.trace != nil { actions.makeRare { $0.left.append((mailbox, clients)) } }
    let isHere = isFirst || actions.addWaiting(mailbox)
    let action = with(mailbox) { $0.put(Letter(post: post, residents: residents), isHere: isHere) }
    if action == .startDrain { actions.addDrain(mailbox) }
    #if DEBUG
      if with(mailbox, { $0.letters.count }) == Mailbox.crowd { crowded = mailbox }
    #endif
  }

  /// Claims a mailbox, and takes what waits there. Returns false if somebody else is at work there.
  @inline(__always)
  private mutating func claim(_ mailbox: Mailbox, _ actions: inout LeaveActions) -> Bool {
    with(mailbox) { state in
      guard state.claim() == .handle else { return false }
      if !state.letters.isEmpty { actions.makeRare { state.takeAll(into: &$0.earlier) } }
      return true
    }
  }
}

// MARK: - After it

extension LeaveActions {
  @inline(__always)
  func forEachDrain(_ body: (Mailbox) -> Void) {
    if let drain = unsafe drain { unsafe drain._withUnsafeGuaranteedRef(body) }
    withRare { $0.drains.forEach(body) }
  }

  /// Passes the home that was claimed and its clients to `body`.
  @inline(__always)
  func withClaimed(_ body: (Mailbox, Boxes) -> Void) {
    guard let claimed = unsafe claimed, let here = unsafe here else { return }
    unsafe here._withUnsafeGuaranteedRef { mailbox in
      unsafe claimed._withUnsafeGuaranteedRef { body(mailbox, $0.boxes) }
    }
  }

  /// Passes what waited in the home that was claimed to `body`, if anything did.
  @inline(__always)
  func withEarlier(_ body: (inout LetterQueue) -> Void) {
    withRare { body(&$0.earlier) }
  }

  /// The other homes that are here, where a letter waits.
  @inline(__always)
  func forEachWaiting(_ body: (Mailbox) -> Void) {
    withRare { $0.waiting.forEach(body) }
  }

  func forEachLeft(_ body: (Mailbox, _ clients: Int) -> Void) {
    withRare { rare in for (mailbox, clients) in rare.left { body(mailbox, clients) } }
  }
}
