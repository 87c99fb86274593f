import MulticastPlatform

/// An object with a reference to another object, which is set at most once, and a count. Threads may use both at the same time.
///
/// The word of the superclass is the address of the other object, or 0. This object owns the other one from the moment at which
/// ``setReference(_:)`` stores the address until its own `deinit`. So a reference that was loaded stays valid while this object
/// lives. The second word is the count. A class inherits from this one for the same reason as from ``AtomicWord``.
///
/// `@unchecked`: only atomic functions access the words after `init`: see ``AtomicWord``.
@usableFromInline @safe
package class ReferenceAndCount: AtomicWord, @unchecked Sendable {
  private var count: UInt64

  @usableFromInline
  package init(count: UInt64) {
    self.count = count
    super.init(word: 0)
  }

  deinit { unsafe Self.object(at: word)?.release() }

  /// Adds to the count. Returns the old count. The caller sees what other threads have done before they added.
  @inline(__always)
  package final func addToCount(_ change: UInt64) -> UInt64 {
    // `count` is the next stored property behind the word, so it is the next word in memory: see `AtomicWord`.
    unsafe withWord { word in
      unsafe multicast_add(word + 1, change, AtomicOrdering.acquiringAndReleasing.rawValue)
    }
  }

  /// The object that this refers to; nil if none has been set. `Object` must be the class of the object that was set.
  @inline(__always)
  package final func reference<Object: AnyObject>(as type: Object.Type) -> Object? {
    unsafe Self.object(at: word).map {
      unsafe unsafeDowncast($0.takeUnretainedValue(), to: Object.self)
    }
  }

  /// Makes this refer to an object, unless it refers to one already. Returns the object that it refers to now.
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
