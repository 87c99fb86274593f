import MulticastPlatform

/// A center's registry for a listener protocol (its delegate) or a message type (its topics), type-erased.
protocol ClientRegistry: AnyObject, Sendable {
  /// The lists of clients, in order.
  var lists: [ClientList] { get }

  /// Removes a client. Returns the number of its registrations.
  func removeClient(_ client: AnyObject) -> Int
}

/// Finds a center's registries by type, without a lock: a hash table whose entries are linked lists of nodes.
///
/// Nodes are only added, each as the first one of its list, and stay until the center is deallocated. A node never changes, and it
/// is complete before a store with release ordering makes it the first one. So a thread that loads the first node with acquire
/// ordering can follow the whole list. A thread that comes too early can only miss a newer registry. It looks again with the
/// lock held before it adds one.
///
/// The table does not grow, because a program has few listener protocols and message types: finding one of *n* takes *n* / 128
/// steps on average.
///
/// `@unchecked`, because the compiler does not know what the pointers lead to: memory of this object, which is written with the
/// lock held, and read without it in the order described.
@usableFromInline @safe
final class RegistryTable: @unchecked Sendable {
  @safe private struct Node {
    /// The first property, so that a pointer to the node is a pointer to the registry.
    let registry: AnyObject

    let key: UInt

    /// The address of the next node of the list; 0 if there is none.
    let next: UInt64
  }

  private static var bits: Int { 6 }

  /// The addresses of the lists' first nodes; 0 for an empty list.
  private let lists: UnsafeMutablePointer<UInt64>

  /// All registries, in the order of their first use.
  private let registries = Locked<[any ClientRegistry]>([])

  init() {
    unsafe lists = .allocate(capacity: 1 << Self.bits)
    unsafe lists.initialize(repeating: 0, count: 1 << Self.bits)
  }

  deinit {
    for index in 0..<1 << Self.bits {
      var address = unsafe lists[index]
      while let node = unsafe UnsafeMutablePointer<Node>(bitPattern: UInt(address)) {
        unsafe address = node.pointee.next
        unsafe node.deinitialize(count: 1)
        unsafe node.deallocate()
      }
    }
    unsafe lists.deallocate()
  }

  /// Returns a pointer to the registry of a key; nil if there is none. The pointer is valid while the table lives.
  ///
  /// A pointer, because a returned reference would be retained, and `notify` would pay for that.
  @usableFromInline
  func find(_ key: ObjectIdentifier) -> UnsafeMutableRawPointer? {
    let list = unsafe lists + Hashing.index(of: key.address, bits: Self.bits)
    var address = unsafe multicast_load(list, AtomicOrdering.acquiring.rawValue)
    while let node = unsafe UnsafeMutablePointer<Node>(bitPattern: UInt(address)) {
      if unsafe node.pointee.key == key.address { return UnsafeMutableRawPointer(node) }
      unsafe address = node.pointee.next
    }
    return nil
  }

  /// Like ``find(_:)``. Adds the registry that `make` returns if there is none.
  func find(
    _ key: ObjectIdentifier, orAdd make: () -> any ClientRegistry
  ) -> UnsafeMutableRawPointer {
    if let found = unsafe find(key) { return unsafe found }
    return unsafe registries.withLock { registries in
      // Another thread may have added it.
      if let found = unsafe find(key) { return unsafe found }
      let registry = make()
      registries.append(registry)
      let list = unsafe lists + Hashing.index(of: key.address, bits: Self.bits)
      let node = UnsafeMutablePointer<Node>.allocate(capacity: 1)
      unsafe node.initialize(to: Node(registry: registry, key: key.address, next: list.pointee))
      unsafe multicast_store(
        list, UInt64(UInt(bitPattern: node)), AtomicOrdering.releasing.rawValue)
      return UnsafeMutableRawPointer(node)
    }
  }

  /// All registries, in the order of their first use.
  ///
  /// The array is a copy with storage of its own. The table changes its storage in place when it is the only
  /// owner, which only the runtime knows. The thread sanitizer would not see that a caller has finished
  /// reading.
  var all: [any ClientRegistry] {
    registries.withLock { registries in registries.map { registry in registry } }
  }
}
