import MulticastPlatform

/// A value that threads may read and write at the same time. It has the names of the standard library's type
/// of this name, which needs macOS 15 and its relatives.
///
/// The layout makes the compiler leave the value where it is, a word of memory of its own, while it is
/// borrowed. Otherwise a property's address would be constant only in memory that is allocated for it.
///
/// Unchecked, because the compiler does not know what is in the memory: a word that only atomic functions
/// access.
@_rawLayout(size: 8, alignment: 8) @usableFromInline @safe
package struct Atomic<Value: AtomicValue>: ~Copyable, @unchecked Sendable {
  @inlinable
  package init(_ value: Value) {
    unsafe multicast_store(word, value.word, AtomicOrdering.relaxed.rawValue)
  }

  @inlinable var word: UnsafeMutablePointer<UInt64> {
    unsafe withUnsafePointer(to: self) { place in
      unsafe UnsafeMutableRawPointer(mutating: place).assumingMemoryBound(to: UInt64.self)
    }
  }

  @inlinable
  package func load(ordering: AtomicOrdering) -> Value {
    unsafe Value(word: multicast_load(word, ordering.rawValue))
  }

  @inlinable
  package func store(_ value: Value, ordering: AtomicOrdering) {
    unsafe multicast_store(word, value.word, ordering.rawValue)
  }

  @inlinable
  package func exchange(_ value: Value, ordering: AtomicOrdering) -> Value {
    unsafe Value(word: multicast_exchange(word, value.word, ordering.rawValue))
  }

  @inlinable
  package func compareExchange(
    expected: Value, desired: Value, ordering: AtomicOrdering
  ) -> (exchanged: Bool, original: Value) {
    let original = unsafe multicast_compare_exchange(
      word, expected.word, desired.word, ordering.rawValue)
    return (original == expected.word, Value(word: original))
  }
}

extension Atomic where Value: FixedWidthInteger {
  @inlinable @discardableResult
  package func wrappingAdd(
    _ value: Value, ordering: AtomicOrdering
  ) -> (oldValue: Value, newValue: Value) {
    let old = unsafe Value(word: multicast_add(word, value.word, ordering.rawValue))
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

/// A reference that is set once, atomically, and then kept.
@safe
package struct AtomicLazyReference<Instance: AnyObject & Sendable>: ~Copyable, Sendable {
  private let address = Atomic<UInt>(0)

  package init() {}

  deinit {
    unsafe Self.reference(address.load(ordering: .acquiring))?.release()
  }

  package func load() -> Instance? {
    unsafe Self.reference(address.load(ordering: .acquiring))?.takeUnretainedValue()
  }

  /// Returns the reference that is set: this one, or the one that another thread has set before.
  @discardableResult
  package func storeIfNil(_ instance: Instance) -> Instance {
    let new = unsafe Unmanaged.passRetained(instance)
    let (isStored, old) = address.compareExchange(
      expected: 0, desired: UInt(bitPattern: unsafe new.toOpaque()),
      ordering: .acquiringAndReleasing)
    if isStored { return instance }
    unsafe new.release()
    return unsafe Self.reference(old)?.takeUnretainedValue() ?? instance
  }

  private static func reference(_ address: UInt) -> Unmanaged<Instance>? {
    unsafe UnsafeRawPointer(bitPattern: address).map { unsafe .fromOpaque($0) }
  }
}
