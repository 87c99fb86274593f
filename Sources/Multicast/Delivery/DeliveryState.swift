/// What a thread knows of a post between the steps.
@safe
struct DeliveryState: ~Copyable {
  /// The first of the homes that are here, which the thread tries to claim. Owned by the roster.
  private var here: Unmanaged<Mailbox>?

  /// The listeners of the home that was claimed. Owned by the roster.
  private var claimed: Unmanaged<Roster.Group>?

  /// The number of letters that waited in the home that was claimed. They come before the post.
  private var earlier = 0

  /// The number of letters that were left, and of listeners that they are for.
  private(set) var letters = 0
  private(set) var listeners = 0

  // Retained. As optional references, they would cost each post the release of nothing, three times.

  /// The roster to which the letters belong; nil if that is the post's, as usual.
  private var ownRoster: Unmanaged<Roster>?

  /// The latest post that this one has replaced. Its `deinit` may run client code, so it is released after the calls.
  private var replaced: Unmanaged<Post>?

  /// What few posts need; nil if this one does not.
  private var more: Unmanaged<More>?

  private final class More {
    /// The other homes that are here, and those of them in which a letter was left.
    var here: Set<ObjectIdentifier> = []
    var hereWithLetters: [Mailbox] = []

    /// The letters, to report them in a center that is traced.
    var reports: [(home: Mailbox, listeners: Int, waiting: Int)] = []
  }

  init() {}

  deinit {
    unsafe ownRoster?.release()
    unsafe replaced?.release()
    unsafe more?.release()
  }
}

// MARK: - Leave

extension DeliveryState {
  /// Makes a roster the one to which the letters belong.
  mutating func setRoster(_ roster: Roster) { unsafe ownRoster = .passRetained(roster) }

  mutating func releaseLater(_ post: Post?) {
    unsafe replaced = post.map { unsafe .passRetained($0) }
  }

  /// The roster to which the letters belong, which this or the post owns.
  @inline(__always)
  func roster(of post: Post) -> Unmanaged<Roster> {
    unsafe ownRoster ?? .passUnretained(post.roster)
  }

  /// Notes a home that is here. Called with no lock held.
  @inline(__always)
  mutating func addHere(_ mailbox: Mailbox) {
    if unsafe here == nil { return unsafe here = .passUnretained(mailbox) }
    makeMore { $0.here.insert(ObjectIdentifier(mailbox)) }
  }

  /// Claims a mailbox if it is the first one that is here, and puts a letter in any other one.
  ///
  /// Only one home is claimed. If all that are here were, no other thread could call in them while this one is calling in the first.
  @inline(__always)
  mutating func claimOrPut(
    _ post: Post, for group: Roster.Group, in mailbox: Mailbox, _ state: inout PostOffice.State
  ) {
    let count = group.boxes.registered
    if count == 0 { return state.forgetIfIdle(mailbox) }
    let isFirst = unsafe here?.toOpaque() == Unmanaged.passUnretained(mailbox).toOpaque()
    if isFirst, state.change(mailbox, { $0.claim() }) == .handleLetters {
      unsafe claimed = .passUnretained(group)
      earlier = state.read(mailbox) { $0.letters.count }
      return
    }
    var isHere = isFirst
    withMore { more in
      guard more.here.contains(ObjectIdentifier(mailbox)) else { return }
      more.hereWithLetters.append(mailbox)
      isHere = true
    }
    // If another thread has claimed a home that is here, that thread handles the letter.
    state.change(mailbox) { $0.put(Letter(post: post, group: group), isHere: isHere) }
    letters += 1
    listeners += count
    if unsafe post.trace != nil {
      let waiting = state.read(mailbox) { $0.letters.count }
      makeMore { $0.reports.append((mailbox, count, waiting)) }
    }
    state.noteCrowd(in: mailbox)
  }

  @inline(__always)
  private func withMore(_ body: (More) -> Void) {
    if let more = unsafe more { unsafe more._withUnsafeGuaranteedRef(body) }
  }

  @inline(never)
  private mutating func makeMore(_ change: (More) -> Void) {
    if unsafe more == nil { unsafe more = .passRetained(More()) }
    withMore(change)
  }

  func reportLetters(of post: Post, to pass: DeliveryPass) {
    // Each client's task is a home, and they are reported together.
    if case .tasks = post.destination {
      if listeners == 0 { return }
      return pass.reportLeft(for: Home.task, clients: listeners, waiting: nil)
    }
    withMore { more in
      for (home, listeners, waiting) in more.reports {
        pass.reportLeft(for: home, clients: listeners, waiting: waiting)
      }
    }
  }
}

// MARK: - Drain

extension DeliveryState {
  @inline(__always)
  func withClaim(_ body: (Mailbox, Boxes, _ earlier: Int) -> Void) {
    guard let claimed = unsafe claimed, let here = unsafe here else { return }
    unsafe here._withUnsafeGuaranteedRef { mailbox in
      unsafe claimed._withUnsafeGuaranteedRef { body(mailbox, $0.boxes, earlier) }
    }
  }

  @inline(__always)
  func forEachOtherHome(_ body: (Mailbox) -> Void) {
    withMore { $0.hereWithLetters.forEach(body) }
  }
}
