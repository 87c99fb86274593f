/// A token of a handler's registration for a topic. It may be ignored.
///
/// Releasing the token ends nothing, and the token keeps nothing alive. The observation ends with its owner, with
/// ``cancel()``, with the center's methods for removal, when its owner observes the topic again with the same `id`,
/// and with the first message if it was made with `once: true`.
public struct TopicObservation: Sendable {
  /// Weak references to owner and list.
  ///
  /// Unchecked, because weak references are variables. Only `init` assigns them. Their objects are Sendable,
  /// and any thread may load a weak reference.
  private final class Target: @unchecked Sendable {
    private(set) weak var owner: (AnyObject & Sendable)?
    private(set) weak var list: ClientList?

    init(_ list: ClientList, owner: AnyObject & Sendable) {
      self.owner = owner
      self.list = list
    }
  }

  private let target: Target
  private let number: UInt64
  private let version: UInt32

  init(in list: ClientList, owner: AnyObject & Sendable, number: UInt64, version: UInt32) {
    target = Target(list, owner: owner)
    self.number = number
    self.version = version
  }

  /// Whether the handler receives further messages.
  public var isActive: Bool {
    withObserver { observer, _, _ in observer.isActive(version: version) } ?? false
  }

  /// Ends the observation. What was posted before no longer calls the handler.
  ///
  /// After that, no call of the handler begins on this thread. A call on another thread may still
  /// run. May be called in the handler, and more than once.
  ///
  /// - Complexity: Amortized O(1).
  public func cancel() {
    withObserver { observer, list, registration in
      if observer.cancel(version: version) { list.remove(registration) }
    }
  }

  @discardableResult
  private func withObserver<Result>(
    _ body: (TopicObserver, ClientList, Registration) -> Result
  ) -> Result? {
    // Holding the owner keeps its address unique.
    guard let owner = target.owner, let list = target.list else { return nil }
    defer { extendLifetime(owner) }
    let registration = Registration(identity: ObjectIdentifier(owner).address, number: number)
    guard let observer = list.companion(of: registration) as? TopicObserver else {
      return nil
    }
    return body(observer, list, registration)
  }
}
