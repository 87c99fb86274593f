/// A token that can cancel a handler's registration for a topic.
///
/// You can ignore it, because the registration ends with the handler's owner. Releasing the token ends
/// nothing, and the token keeps no owner alive. The registration ends earlier with ``cancel()``, with the
/// center's methods for removal, when the owner observes the topic again with the same `id`, and, if it was
/// made with `once: true`, with the first message.
public struct TopicObservation: Sendable {
  /// The handler's box, which keeps no owner alive, and a weak reference to the topic. When the topic's list is deallocated, the
  /// registration ends.
  ///
  /// `@unchecked`, because a weak reference is a variable. Only `init` assigns it, and any thread may load it.
  private final class Target: @unchecked Sendable {
    let box: HandlerBox
    private(set) weak var topic: TopicEntry?

    init(_ box: HandlerBox, in topic: TopicEntry) {
      self.box = box
      self.topic = topic
    }
  }

  private let target: Target
  private let version: UInt32

  init(_ box: HandlerBox, in topic: TopicEntry, version: UInt32) {
    target = Target(box, in: topic)
    self.version = version
  }

  /// Whether the handler receives further messages.
  ///
  /// If you read it outside the handler's home, it is true until that home has noticed that the owner is
  /// deallocated. It is false after the center has been deallocated and no post to the topic waits, in a home or as
  /// a ``Posted`` in a variable. You may read it on any thread. In the handler's home, it retains the owner for an
  /// instant.
  public var isActive: Bool {
    target.box.mayBeAlive && target.box.isActive(version: version)
  }

  /// Ends the registration. Posts that were made before no longer call the handler.
  ///
  /// After this returns, no call of the handler begins on this thread. A call that is already running on
  /// another thread finishes. You may call this on any thread, in the handler, and more than once. It
  /// releases the handler and its id on this thread, with everything that only they hold. It does not touch the
  /// owner.
  ///
  /// - Complexity: Amortized O(1).
  public func cancel() {
    // The condition releases the handler before the list is changed.
    guard target.box.takeHandler(version: version)?.isActive == true else { return }
    target.topic?.list.endRegistration(of: target.box)
  }
}

extension TopicObservation: Hashable {
  /// Returns whether both are the token of one call of `observe`.
  public static func == (one: Self, other: Self) -> Bool { one.target === other.target }

  /// Hashes the token's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(target)) }
}
