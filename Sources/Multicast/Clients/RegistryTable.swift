import MulticastPlatform

/// A center's registry for a listener protocol (its delegate) or a message type (its topics), type-erased.
protocol ClientRegistry: AnyObject, Sendable {
  /// The lists of clients, in order.
  var lists: [ClientList] { get }

  /// Removes the registrations of a client. Returns their number.
  func removeClient(_ client: AnyObject) -> Int
}

/// Finds a center's registries by type, without a lock: a hash table whose buckets are linked lists of nodes.
///
/// Every `notify` and every `post` of a center begins here, so a lookup costs a few instructions: it takes no lock and retains
/// nothing. That is safe, because nodes are only added, each as the first one of its bucket, and stay until the table is
/// deallocated with its center. A node never changes, and it is complete before a store with release ordering makes it the
/// first one. So a thread that loads the first node with acquire ordering can walk the whole bucket. A thread that looks too
/// early can only miss a newer registry. It looks again with the lock held before it adds one. The nodes and the array own
/// the registries.
///
/// Tests/Verification/Simulation checks both orderings: see OrderProgram.swift and RegistryProgram.swift.
///
/// The table does not grow, because a program has few listener protocols and message types: finding one of *n* passes *n* / 128
/// other nodes on average.
///
/// `@unchecked`, because the compiler does not know to which memory the pointers lead. This object owns it, writes it with the
/// lock held, and reads it without the lock in the order described.
@usableFromInline @safe
final class RegistryTable: @unchecked Sendable {
  @safe private struct Node {
    /// The first property, so that a pointer to the node is a pointer to the registry.
    let registry: AnyObject

    let key: UInt

    /// The address of the next node of the bucket; 0 if there is none.
    let next: UInt64
  }

  private static var bits: Int { 6 }

  /// The address of the first node of each bucket; 0 for an empty one.
  private let buckets: UnsafeMutablePointer<UInt64>

  /// All registries, in the order of their first use.
  private let registries = Locked<[any ClientRegistry]>([])

  init() {
    unsafe buckets = .allocate(capacity: 1 << Self.bits)
    unsafe buckets.initialize(repeating: 0, count: 1 << Self.bits)
  }

  deinit {
    for index in 0..<1 << Self.bits {
      var address = unsafe buckets[index]
      while let node = unsafe UnsafeMutablePointer<Node>(bitPattern: UInt(address)) {
        unsafe address = node.pointee.next
        unsafe node.deinitialize(count: 1)
        unsafe node.deallocate()
      }
    }
    unsafe buckets.deallocate()
  }

  /// Returns a pointer to the reference to the registry of a key; nil if there is none. The table owns the registry, so keep
  /// the table alive while you use the pointer.
  ///
  /// A key is the `ObjectIdentifier` of a type. The table compares nothing else, so each type must be a key of only one kind of
  /// registry. Only `MulticastDelegate.key` and `TopicRegistry.key(of:)` make keys.
  ///
  /// This returns a pointer, because a returned reference would be retained and released in every `notify`.
  @usableFromInline
  func find(_ key: ObjectIdentifier) -> UnsafeMutableRawPointer? {
    let bucket = unsafe buckets + Hashing.index(of: key.address, bits: Self.bits)
    var address = unsafe multicast_load(bucket, AtomicOrdering.acquiring.rawValue)
    while let node = unsafe UnsafeMutablePointer<Node>(bitPattern: UInt(address)) {
      if unsafe node.pointee.key == key.address { return UnsafeMutableRawPointer(node) }
      unsafe address = node.pointee.next
    }
    return nil
  }

  /// Does what ``find(_:)`` does. If there is no registry, adds the one that `make` returns. Calls `make` with the lock held.
  func findOrAdd(
    _ key: ObjectIdentifier, _ make: () -> any ClientRegistry
  ) -> UnsafeMutableRawPointer {
    if let found = unsafe find(key) { return unsafe found }
    return unsafe registries.withLock { registries in
      // Another thread may have added it.
      if let found = unsafe find(key) { return unsafe found }
      let registry = make()
      registries.append(registry)
      let bucket = unsafe buckets + Hashing.index(of: key.address, bits: Self.bits)
      let node = UnsafeMutablePointer<Node>.allocate(capacity: 1)
      unsafe node.initialize(to: Node(registry: registry, key: key.address, next: bucket.pointee))
      unsafe multicast_store(
        bucket, UInt64(UInt(bitPattern: node)), AtomicOrdering.releasing.rawValue)
      return UnsafeMutableRawPointer(node)
    }
  }

  /// All registries, in the order of their first use.
  ///
  /// The array is a copy with storage of its own, and does not share that of the table. The table would change shared storage
  /// in place once the caller has released it. Only the reference count says that the caller has finished reading, and the
  /// thread sanitizer does not see that.
  var all: [any ClientRegistry] {
    registries.withLock { registries in registries.map { registry in registry } }
  }
}
