/// What a thread notes about a post between the steps of its delivery. For a plain post to a listener protocol, if no home is
/// here, these are only the numbers of letters and listeners.
///
/// `leaveLetters` passes each home that is here to ``noteHere(_:)``, and the roster to which the letters belong to
/// ``setRoster(_:)``, if that is not the post's. For each home of that roster, `claimOrPut` then notes that it has claimed the
/// home, with ``noteClaim(for:)``, or left a letter there, with ``noteLetter(for:)``. `handleHere` does what is
/// left to do here. For a handler that observes late, `beginWithLatest` does what `leaveLetters` does.
@safe
struct DeliveryState: ~Copyable {
  /// The home that the thread tries to claim: the first one that is here. The post's roster owns it, or the office, or the caller.
  private var candidate: Unmanaged<Mailbox>?

  /// The listeners of the candidate, once it is claimed. The roster to which the letters belong owns them.
  private var claimedGroup: Unmanaged<Roster.Group>?

  /// The number of letters that were left, and of listeners that they are for.
  private(set) var letters = 0
  private(set) var listeners = 0

  // Retained. As optional references, they would cost each post three releases of nil.

  /// The roster to which the letters belong; nil if that is the post's, as usual. `postOnMain` has all boxes in the main mailbox,
  /// `post(awaiting:)` has a task for each client, and a post that is stored as the latest message has the list's newest roster.
  private var ownRoster: Unmanaged<Roster>?

  /// The latest post that this one has replaced. Its `deinit` may run client code, so it is released after the calls.
  private var replaced: Unmanaged<Post>?

  /// What few posts need; nil if this one does not.
  private var more: Unmanaged<More>?

  private final class More {
    /// The letters that waited in the home that was claimed. They come before the post.
    var earlier = LetterQueue()

    /// The other homes that are here.
    var othersHere: [Mailbox] = []

    /// The letters, to report them in a center that is traced.
    var reports: [(home: Mailbox, listeners: Int, waiting: Int)] = []
  }

  init() {}

  deinit {
    unsafe ownRoster?.release()
    unsafe replaced?.release()
    unsafe more?.release()
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
}

// MARK: - Leave

extension DeliveryState {
  /// Sets the roster to which the letters belong, if it is not the post's. Call this at most once.
  mutating func setRoster(_ roster: Roster) {
    unsafe assert(ownRoster == nil)
    unsafe ownRoster = .passRetained(roster)
  }

  /// Keeps the post that was replaced as the latest one until the delivery ends. Call this at most once.
  mutating func releaseLater(_ post: Post?) {
    unsafe replaced = post.map { unsafe .passRetained($0) }
  }

  /// The roster to which the letters belong, which this or the post owns.
  @inline(__always)
  func roster(of post: Post) -> Unmanaged<Roster> {
    unsafe ownRoster ?? .passUnretained(post.roster)
  }

  /// Notes a home that is here. The first one becomes the candidate, the only home that `claimOrPut` tries to claim. Call this with
  /// no lock held.
  @inline(__always)
  mutating func noteHere(_ mailbox: Mailbox) {
    if unsafe candidate == nil { return unsafe candidate = .passUnretained(mailbox) }
    makeMore { $0.othersHere.append(mailbox) }
  }

  /// Whether a home is the one that the thread tries to claim.
  @inline(__always)
  func isCandidate(_ mailbox: Mailbox) -> Bool {
    unsafe candidate?.toOpaque() == Unmanaged.passUnretained(mailbox).toOpaque()
  }

  /// Notes that the candidate has been claimed, for the listeners of a group.
  @inline(__always)
  mutating func noteClaim(for group: Roster.Group) {
    unsafe claimedGroup = .passUnretained(group)
  }

  mutating func fillEarlier(_ take: (inout LetterQueue) -> Void) { makeMore { take(&$0.earlier) } }

  /// Notes a letter for a number of listeners.
  @inline(__always)
  mutating func noteLetter(for count: Int) {
    letters += 1
    listeners += count
  }
}

// MARK: - Handle

extension DeliveryState {
  /// Passes the home that was claimed and its listeners to `body`.
  @inline(__always)
  func withClaim(_ body: (Mailbox, Boxes) -> Void) {
    guard let group = unsafe claimedGroup, let home = unsafe candidate else { return }
    unsafe home._withUnsafeGuaranteedRef { mailbox in
      unsafe group._withUnsafeGuaranteedRef { body(mailbox, $0.boxes) }
    }
  }

  /// Passes the letters that waited in the home that was claimed to `body`.
  @inline(__always)
  func withEarlier(_ body: (inout LetterQueue) -> Void) { withMore { body(&$0.earlier) } }

  @inline(__always)
  func forEachOtherHere(_ body: (Mailbox) -> Void) {
    withMore { $0.othersHere.forEach(body) }
  }
}

// MARK: - Reports

extension DeliveryState {
  @inline(never)
  mutating func noteReport(of home: Mailbox, listeners: Int, waiting: Int) {
    makeMore { $0.reports.append((home, listeners, waiting)) }
  }

  /// Reports the letters that were left.
  func reportLetters(of post: Post, to pass: DeliveryPass) {
    withMore { more in
      // Each client's task is a home, and they are reported together.
      if case .tasks = post.destination, let task = more.reports.first?.home {
        return pass.reportLeft(for: task, clients: listeners, waiting: nil)
      }
      for (home, listeners, waiting) in more.reports {
        pass.reportLeft(for: home, clients: listeners, waiting: waiting)
      }
    }
  }
}
