import MulticastPlatform

/// An object with a word that threads may read and write at the same time.
///
/// Only atomic functions access the word after `init`, and they find it at the same address as long as the object exists. A
/// class that needs such a word inherits from this one, because a word in an object of its own would cost an allocation.
///
/// A Swift object begins with two words, its type and its reference counts. The stored properties follow, and `value` is the
/// first of them. On Apple's systems, this layout is part of the stable ABI. On other systems, the runtime comes with the
/// compiler. So the address of the word can be computed. `&value` is not used, because it may pass the address of a copy, and
/// because the thread sanitizer would report it as an access without order.
///
/// `@unchecked`, because the compiler sees a variable, and does not know that only atomic functions access it.
@usableFromInline @safe
package class AtomicWord: @unchecked Sendable {
  private var value: UInt64

  @usableFromInline
  package init(word: UInt64) { value = word }

  /// Passes the address of the word to `body`. A pointer into the object does not retain it, so this extends the object's
  /// lifetime until `body` returns.
  @inlinable @inline(__always)
  final func withWord<Result>(_ body: (UnsafeMutablePointer<UInt64>) -> Result) -> Result {
    defer { extendLifetime(self) }
    return unsafe body(
      (Unmanaged.passUnretained(self).toOpaque() + 2 * MemoryLayout<UInt>.size)
        .assumingMemoryBound(to: UInt64.self))
  }
}

/// A value that threads may read and write at the same time.
///
/// A copy refers to the same value. The functions have the names of the standard library's `Atomic`, which needs macOS 15 and
/// its relatives.
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

/// The orderings of an ``Atomic``, named as in the standard library. The raw values are those of C, which MulticastPlatform.h
/// checks.
@usableFromInline package enum AtomicOrdering: CInt {
  case relaxed = 0
  case acquiring = 2
  case releasing = 3
  case acquiringAndReleasing = 4
}

/// A value that an ``Atomic`` can store, because a word represents it.
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
