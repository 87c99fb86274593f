import MulticastPlatform

/// The memory of a ``RegistryTable``: a hash table with open addressing, in which registries are only added.
///
/// A registry is written before its key. The key is released by the writer and acquired by the reader, so a
/// reader that finds the key finds the registry. A thread that has learned of a registry finds it, because both stores
/// happened before. Places own their registries.
///
/// Unchecked, because the compiler does not know where the pointers lead: to memory that is written with the
/// table's lock held, and read without the lock in the order described.
@safe
final class RegistryPlaces: @unchecked Sendable {
  let capacity: Int
  private let keys: UnsafeMutablePointer<UInt64>
  private let registries: UnsafeMutablePointer<AnyObject>

  /// Makes room for `capacity` registries, a power of two. One place must stay free.
  init(capacity: Int) {
    self.capacity = capacity
    unsafe keys = .allocate(capacity: capacity)
    unsafe keys.initialize(repeating: 0, count: capacity)
    unsafe registries = .allocate(capacity: capacity)
  }

  deinit {
    for place in 0..<capacity where unsafe keys[place] != 0 {
      unsafe (registries + place).deinitialize(count: 1)
    }
    unsafe keys.deallocate()
    unsafe registries.deallocate()
  }

  /// The place of the registry with this key; nil if there is none.
  @inline(__always)
  func find(_ key: UInt) -> UnsafeMutableRawPointer? {
    let (place, isFound) = place(of: key, ordering: .acquiring)
    return unsafe isFound ? UnsafeMutableRawPointer(registries + place) : nil
  }

  /// Adds a registry with a new key. Returns its place.
  @discardableResult
  func insert(_ registry: AnyObject, key: UInt) -> UnsafeMutableRawPointer {
    let (place, _) = place(of: key, ordering: .relaxed)
    unsafe (registries + place).initialize(to: registry)
    unsafe multicast_store(keys + place, UInt64(key), AtomicOrdering.releasing.rawValue)
    return unsafe UnsafeMutableRawPointer(registries + place)
  }

  func insert(contentsOf other: RegistryPlaces) {
    for place in 0..<other.capacity {
      let key = unsafe other.keys[place]
      if key != 0 { unsafe insert(other.registries[place], key: UInt(key)) }
    }
  }

  /// The place that has a key, or where it belongs. Reads each key once: only a read that acquires the key may find it.
  @inline(__always)
  private func place(of key: UInt, ordering: AtomicOrdering) -> (place: Int, isFound: Bool) {
    var place = Hashing.place(of: key, bits: capacity.trailingZeroBitCount)
    while true {
      let found = unsafe UInt(multicast_load(keys + place, ordering.rawValue))
      if found == key || found == 0 { return (place, found == key) }
      place = (place + 1) & (capacity - 1)
    }
  }
}
