import MulticastPlatform

/// An object with a word that threads may read and write at the same time.
///
/// The word must stay where it is, so it belongs to an object. A class that needs one, and no other memory for it, inherits
/// from this. The word is the first stored property. It stands behind the two words with which each Swift object begins,
/// its type and its reference counts, which is part of the stable ABI. Its address is computed, because `&` could copy the
/// word, and the thread sanitizer would take it for access without order.
///
/// Unchecked, because the compiler does not know what is done with the word: only atomic functions access it after `init`.
@usableFromInline @safe
package class AtomicWord: @unchecked Sendable {
  private var value: UInt64

  @usableFromInline
  package init(word: UInt64) { value = word }

  /// Passes the word's place to `body`. Holds the object meanwhile, which a pointer into it does not.
  @inlinable @inline(__always)
  final func withWord<Result>(_ body: (UnsafeMutablePointer<UInt64>) -> Result) -> Result {
    defer { extendLifetime(self) }
    return unsafe body(
      (Unmanaged.passUnretained(self).toOpaque() + 2 * MemoryLayout<UInt>.size)
        .assumingMemoryBound(to: UInt64.self))
  }
}

/// A value that threads may read and write at the same time. It has the names of the standard library's type
/// of this name, which needs macOS 15 and its relatives. A copy is the same value.
@usableFromInline
package struct Atomic<Value: AtomicValue>: Sendable {
  @usableFromInline package let object: AtomicWord

  @inlinable
  package init(_ value: Value) { object = AtomicWord(word: value.word) }

  @inlinable
  package func load(ordering: AtomicOrdering) -> Value {
    Value(word: unsafe object.withWord { word in unsafe multicast_load(word, ordering.rawValue) })
  }

  @inlinable
  package func store(_ value: Value, ordering: AtomicOrdering) {
    unsafe object.withWord { word in unsafe multicast_store(word, value.word, ordering.rawValue) }
  }
}

extension Atomic where Value: FixedWidthInteger {
  @inlinable @discardableResult
  package func wrappingAdd(
    _ value: Value, ordering: AtomicOrdering
  ) -> (oldValue: Value, newValue: Value) {
    let old = Value(
      word: unsafe object.withWord { word in
        unsafe multicast_add(word, value.word, ordering.rawValue)
      })
    return (old, old &+ value)
  }
}

/// The orderings of an ``Atomic``, named as in the standard library. Raw values are those of C.
@usableFromInline package enum AtomicOrdering: CInt {
  case relaxed = 0
  case acquiring = 2
  case releasing = 3
  case acquiringAndReleasing = 4
}

/// A value of an ``Atomic``, and the word that stands for it.
@usableFromInline
package protocol AtomicValue: BitwiseCopyable {
  init(word: UInt64)

  var word: UInt64 { get }
}

extension AtomicValue where Self: FixedWidthInteger {
  @inlinable
  package init(word: UInt64) { self.init(truncatingIfNeeded: word) }

  @inlinable package var word: UInt64 { UInt64(truncatingIfNeeded: self) }
}

extension Int: AtomicValue {}
extension UInt: AtomicValue {}
extension UInt64: AtomicValue {}

extension Bool: AtomicValue {
  @inlinable
  package init(word: UInt64) { self = word != 0 }

  @inlinable package var word: UInt64 { self ? 1 : 0 }
}
