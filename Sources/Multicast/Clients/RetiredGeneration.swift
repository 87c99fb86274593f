/// A replaced generation. Its last reference is released with the list's lock released, because that takes
/// long and releases companions.
///
/// Unchecked, because the list's lock protects it, and one thread releases it when no walk is active.
final class RetiredGeneration: @unchecked Sendable {
  var generation: ClientGeneration

  init(_ generation: consuming ClientGeneration) {
    self.generation = generation
  }
}
