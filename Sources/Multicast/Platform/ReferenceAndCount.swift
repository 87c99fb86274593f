import MulticastPlatform

/// An object that refers to another one, once there is any, and that counts.
///
/// Threads may use both at the same time. A class that needs them, and no other memory for them, inherits from this. The first
/// word is the other object's address, retained, or 0; the second one is the count.
///
/// `@unchecked`: only atomic functions access the words after `init`, as in ``AtomicWord``, whose reasons hold here, too.
@usableFromInline @safe
package class ReferenceAndCount: AtomicWord, @unchecked Sendable {
  private var count: UInt64

  @usableFromInline
  package init(count: UInt64) {
    self.count = count
    super.init(word: 0)
  }

  deinit { unsafe Self.object(at: word)?.release() }

  /// Adds to the count, and returns what it was. The caller sees what other threads did before they added.
  @inline(__always)
  package final func addToCount(_ change: UInt64) -> UInt64 {
    // The second word stands behind the first: see `AtomicWord`.
    unsafe withWord { word in
      unsafe multicast_add(word + 1, change, AtomicOrdering.acquiringAndReleasing.rawValue)
    }
  }

  /// The object that this refers to; nil if none has been set.
  @inline(__always)
  package final func reference<Object: AnyObject>(as type: Object.Type) -> Object? {
    unsafe Self.object(at: word).map {
      unsafe unsafeDowncast($0.takeUnretainedValue(), to: Object.self)
    }
  }

  /// Makes this refer to an object, unless another thread has been faster. Returns the object that it refers to now.
  @discardableResult
  package final func setReference<Object: AnyObject>(_ object: Object) -> Object {
    let new = unsafe Unmanaged<AnyObject>.passRetained(object)
    let word = unsafe withWord { word in
      unsafe multicast_compare_exchange(
        word, 0, UInt64(UInt(bitPattern: new.toOpaque())),
        AtomicOrdering.acquiringAndReleasing.rawValue)
    }
    guard let old = unsafe Self.object(at: word) else { return object }
    unsafe new.release()
    return unsafe unsafeDowncast(old.takeUnretainedValue(), to: Object.self)
  }

  @inline(__always)
  private final var word: UInt64 {
    unsafe withWord { word in unsafe multicast_load(word, AtomicOrdering.acquiring.rawValue) }
  }

  @inline(__always)
  private static func object(at word: UInt64) -> Unmanaged<AnyObject>? {
    unsafe UnsafeRawPointer(bitPattern: UInt(word)).map { unsafe .fromOpaque($0) }
  }
}
