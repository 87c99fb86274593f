/// A token of a relay from a `NotificationCenter`. It may be ignored.
///
/// Releasing the token ends nothing, and the token keeps nothing alive. The relay ends with its
/// `MulticastCenter`, with ``cancel()``, or with the sender that it was made for.
public struct NotificationRelay: Sendable {
  let status: RelayStatus
  private weak var observer: (any RelayEnding)?

  init<Delivery>(_ observer: RelayObserver<Delivery>) {
    status = observer.status
    self.observer = observer
  }

  /// Whether the relay receives notifications.
  public var isActive: Bool { observer?.isActive ?? false }

  /// The number of notifications that could not be mapped.
  ///
  /// It does not count notifications without listeners, nor those whose `post` was refused. It can be
  /// read after the relay's end.
  public var dropped: Int { status.dropped }

  /// Ends the relay, and removes its observer from the `NotificationCenter`.
  ///
  /// After that, the relay receives no notification on this thread. A delivery on another thread finishes, and
  /// what the relay has posted before still reaches its clients and handlers. May be called in the relay's
  /// closures, and more than once.
  ///
  /// - Complexity: That of removing an observer from the `NotificationCenter`.
  public func cancel() { observer?.cancel() }
}
