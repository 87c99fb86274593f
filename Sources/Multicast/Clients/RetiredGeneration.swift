/// A generation that was replaced. It ends where the last reference to it goes, which is without the
/// list's lock: this takes long, and releases companions.
///
/// Unchecked, because it belongs to the list's lock, and is dropped by one thread when no walk is under way
/// in it.
final class RetiredGeneration: @unchecked Sendable {
  var generation: ClientGeneration

  init(_ generation: consuming ClientGeneration) {
    self.generation = generation
  }
}
