// Objects that a center retains, such as relays.

extension MulticastCenter {
  typealias Attachments = Locked<[ObjectIdentifier: any AnyObject & Sendable]>

  /// Keeps an object alive until it is detached, or until the center is deallocated. To attach it again changes nothing.
  ///
  /// The center's `deinit` releases all objects with no lock held. Weak references to the center are nil by then.
  ///
  /// - Complexity: Amortized O(1).
  package func attach(_ object: any AnyObject & Sendable) {
    attachments.withLock { $0[ObjectIdentifier(object)] = object }
  }

  /// Releases an object. Does nothing if it is not attached.
  ///
  /// - Complexity: O(1).
  package func detach(_ object: AnyObject) {
    // The caller holds the object, so it is not deallocated with the lock held.
    attachments.withLock { $0[ObjectIdentifier(object)] = nil }
  }

  /// Returns an attached object of a type; nil if there is none.
  ///
  /// - Complexity: O(*n*) for *n* attached objects.
  package func attachment<Object: AnyObject & Sendable>() -> Object? {
    attachments.withLock { attachments in
      attachments.values.lazy.compactMap { $0 as? Object }.first
    }
  }
}
