/// A token of a handler's registration for a topic. It may be ignored.
///
/// Releasing the token ends nothing, and the token keeps nothing alive. The observation ends with its owner, with
/// ``cancel()``, with the center's methods for removal, when its owner observes the topic again with the same `id`,
/// and with the first message if it was made with `once: true`.
public struct TopicObservation: Sendable {
  /// The handler's box, which keeps no owner alive and ends with its list, and a weak reference to the list.
  ///
  /// Unchecked, because a weak reference is a variable. Only `init` assigns it, and any thread may load it.
  private final class Target: @unchecked Sendable {
    let box: HandlerBox
    private(set) weak var list: TopicAnchor?

    init(_ box: HandlerBox, in list: TopicAnchor) {
      self.box = box
      self.list = list
    }
  }

  private let target: Target
  private let version: UInt32

  init(_ box: HandlerBox, in list: TopicAnchor, version: UInt32) {
    target = Target(box, in: list)
    self.version = version
  }

  /// Whether the handler receives further messages.
  ///
  /// A handler with another home than where this is read is active until its home has noticed its owner's end.
  public var isActive: Bool {
    target.box.mayBeAlive && target.box.isActive(version: version)
  }

  /// Ends the observation. What was posted before no longer calls the handler.
  ///
  /// After that, no call of the handler begins on this thread. A call on another thread may still
  /// run. May be called in the handler, and more than once. Releases the handler on this thread, and what only it
  /// captures with it. The owner is not touched.
  ///
  /// - Complexity: Amortized O(1).
  public func cancel() {
    if target.box.cancel(version: version) { target.list?.list.remove(target.box) }
  }
}

extension TopicObservation: Hashable {
  /// Returns whether both are the token of one call of `observe`.
  public static func == (one: Self, other: Self) -> Bool { one.target === other.target }

  /// Hashes the token's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(target)) }
}
