/// The latest post of a topic, for later observers.
///
/// Unchecked, because the office's lock protects the variables. Every method takes the state that it protects.
final class Keeper: @unchecked Sendable {
  /// A kept post, and its number among those of the list and its registrations.
  struct Kept: Sendable {
    let post: Post
    let number: UInt64
  }

  private var latest: Kept?

  /// The number of posts that were made and are not kept yet. The topic stays for them.
  private var pending = 0

  func latest(_ office: inout PostOffice.State) -> Kept? { latest }

  /// Replaces the latest post. Returns the previous one, to release after unlocking.
  func replaceLatest(with kept: Kept?, _ office: inout PostOffice.State) -> Kept? {
    exchange(&latest, with: kept)
  }

  func isUnused(_ office: inout PostOffice.State) -> Bool { latest == nil && pending == 0 }

  func countPending(_ change: Int, _ office: inout PostOffice.State) { pending += change }
}
