/// A relay of notifications or typed messages into a `MulticastCenter`: a token that may be ignored.
///
/// Dropping it ends nothing. The relay ends with its `MulticastCenter`, with ``cancel()``, and, if
/// it was made for one sender, with that object. A token keeps neither the center nor the relay's
/// closures alive.
public struct NotificationRelay: Sendable {
  let status: RelayStatus
  private weak var observer: (any RelayEnding)?

  init<Delivery>(_ observer: RelayObserver<Delivery>) {
    status = observer.status
    self.observer = observer
  }

  /// Whether notifications are taken. May be asked on any thread.
  public var isActive: Bool { observer?.isActive ?? false }

  /// How many notifications were dropped because they could not be mapped, since the relay was
  /// made.
  ///
  /// Those that nobody listened to, or whose delivery would have been a loop, are not among them.
  /// The number can still be read when the relay has ended. May be read on any thread.
  public var dropped: Int { status.dropped }

  /// Ends the relay, and removes its observer from the `NotificationCenter`.
  ///
  /// No notification is taken on this thread after that. One that is being delivered, here or on
  /// another thread, reaches the rest of its clients. May be called on any thread, in the relay's
  /// closures, and more than once.
  ///
  /// - Complexity: That of removing an observer from the `NotificationCenter`.
  public func cancel() { observer?.cancel() }
}
