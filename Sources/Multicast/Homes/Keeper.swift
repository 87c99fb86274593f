/// The latest post of a topic, or of one id of a protocol, for later observers and clients.
final class Keeper: Sendable {
  /// A kept post, and its number among those of the list and its registrations.
  struct Kept: Sendable {
    let post: Post
    let number: UInt64

    /// The home that the body names; nil if clients are called in their own.
    let mailbox: Mailbox?
  }

  private struct State {
    var latest: Kept?

    /// The number of posts that were made and are not kept yet. The topic or the id stays for them.
    var pending = 0
  }

  private let state = OfficeGuarded(State())

  func latest(_ office: inout PostOffice.State) -> Kept? { state.use(&office) { $0.latest } }

  /// Replaces the latest post. Returns the previous one, to release after unlocking.
  func replaceLatest(with kept: Kept?, _ office: inout PostOffice.State) -> Kept? {
    state.use(&office) { exchange(&$0.latest, with: kept) }
  }

  func isUnused(_ office: inout PostOffice.State) -> Bool {
    state.use(&office) { $0.latest == nil && $0.pending == 0 }
  }

  func countPending(_ change: Int, _ office: inout PostOffice.State) {
    state.use(&office) { $0.pending += change }
  }
}

extension Keeper.Kept {
  /// The letter for a registration that begins with this post.
  func letter(to registration: Registration) -> Letter {
    Letter(post: post, receipt: nil, addressee: .one(registration, number: number))
  }
}
