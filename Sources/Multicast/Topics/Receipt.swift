/// Resumes who waits for messages to be handled, when the last letter that holds the receipt is gone.
///
/// A letter that is never delivered, because its owner has ended or its observation was cancelled,
/// goes as well, so that nobody waits for ever.
final class Receipt: Sendable {
  /// The observers whose handlers wait, in the current task or for it: the one that is running, the
  /// one whose handler waits for that one, and so on.
  ///
  /// A post in here does not wait for any of them, since they would wait for each other.
  @TaskLocal static var waiting: [ObjectIdentifier] = []

  /// The value of ``waiting`` where the post was made.
  let waiting: [ObjectIdentifier]

  private let continuation: CheckedContinuation<Void, Never>

  init(_ continuation: CheckedContinuation<Void, Never>) {
    self.continuation = continuation
    waiting = Self.waiting
  }

  deinit { continuation.resume() }
}
