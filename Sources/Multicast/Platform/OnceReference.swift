import MulticastPlatform

/// An object that refers to another one, once there is any. Whichever thread comes first sets it.
///
/// The word is the other object's address, retained; 0 before. A class that needs such a reference, and no other memory for
/// it, inherits from this.
@usableFromInline @safe
package class OnceReference: AtomicWord, @unchecked Sendable {
  @usableFromInline
  package init() { super.init(word: 0) }

  deinit { unsafe Self.object(at: word)?.release() }

  /// The object that is set; nil before.
  @inline(__always)
  package final func value<Object: AnyObject>(as type: Object.Type) -> Object? {
    unsafe Self.object(at: word).map {
      unsafe unsafeDowncast($0.takeUnretainedValue(), to: Object.self)
    }
  }

  /// Sets an object. Returns the one that is set now: this one, or the one that another thread has set before.
  @discardableResult
  package final func set<Object: AnyObject>(_ object: Object) -> Object {
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
