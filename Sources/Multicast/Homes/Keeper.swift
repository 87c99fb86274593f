/// The latest post of a topic, or of one id of a protocol, for later observers and clients.
///
/// Unchecked, because the office's lock protects the variables. Every method takes the state that it protects.
final class Keeper: @unchecked Sendable {
  /// A kept post, and its number among those of the list and its registrations.
  struct Kept: Sendable {
    let post: Post
    let number: UInt64

    /// The home that the body names; nil if clients are called in their own.
    let mailbox: Mailbox?
  }

  private var latest: Kept?

  /// The number of posts that were made and are not kept yet. The topic or the id stays for them.
  private var pending = 0

  func latest(_ office: inout PostOffice.State) -> Kept? { latest }

  /// Replaces the latest post. Returns the previous one, to release after unlocking.
  func replaceLatest(with kept: Kept?, _ office: inout PostOffice.State) -> Kept? {
    exchange(&latest, with: kept)
  }

  func isUnused(_ office: inout PostOffice.State) -> Bool { latest == nil && pending == 0 }

  func countPending(_ change: Int, _ office: inout PostOffice.State) { pending += change }
}

extension Keeper.Kept {
  /// The letter for a registration that begins with this post.
  func letter(to registration: Registration) -> Letter {
    Letter(post: post, receipt: nil, addressee: .one(registration, number: number))
  }
}
