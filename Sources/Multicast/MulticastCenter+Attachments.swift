/// What a center keeps for others that build on it, such as a bridge to another way of notifying:
/// it knows nothing of an object but how long to hold it.
extension MulticastCenter {
  typealias Attachments = Locked<[ObjectIdentifier: any AnyObject & Sendable]>

  /// Keeps an object alive until it is detached, or until the center ends.
  ///
  /// To attach it again changes nothing. In the center's `deinit` all objects are released, with no
  /// lock held, and weak references to the center are nil by then. May be called from any thread.
  ///
  /// - Complexity: Amortised O(1).
  package func attach(_ object: any AnyObject & Sendable) {
    attachments.withLock { $0[ObjectIdentifier(object)] = object }
  }

  /// Lets go of an object; does nothing if it is not attached. May be called from any thread.
  ///
  /// - Complexity: O(1).
  package func detach(_ object: AnyObject) {
    // The caller holds it for the length of this call, so that it does not end with the lock held.
    attachments.withLock { $0[ObjectIdentifier(object)] = nil }
  }
}
