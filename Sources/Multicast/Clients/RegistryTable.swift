import MulticastPlatform

/// A center's registry for a listener protocol (its delegate) or a message type (its topics), type-erased.
protocol ClientRegistry: AnyObject, Sendable {
  /// The lists of clients, in order.
  var lists: [ClientList] { get }

  /// Removes a client. Returns the number of its registrations.
  func removeClient(_ client: AnyObject) -> Int
}

/// Finds a center's registries by type, without a lock: a hash table of chains.
///
/// Nodes are only added, each as the first one of its chain, and stay until the center ends. A node never changes, and is
/// complete before a release makes it the first one. A thread that acquires the first node finds the whole chain. A thread
/// that comes too early can only miss a later registry, and looks again with the lock held.
///
/// The table does not grow, because a program has few types of keys: *n* of them are found in *n* / 128 steps on average.
///
/// Unchecked, because the compiler does not know where the pointers lead: to memory of this object, which is written with
/// the lock held, and read without it in the order described.
@usableFromInline @safe
final class RegistryTable: @unchecked Sendable {
  @safe private struct Node {
    /// First, so that a pointer to the node is one to the registry.
    let registry: AnyObject

    let key: UInt
    let next: UnsafeMutablePointer<Node>?
  }

  private static var bits: Int { 6 }

  /// The address of the first node of each chain, or 0.
  private let chains: UnsafeMutablePointer<UInt64>

  /// All registries, in the order of their first use.
  private let registries = Locked<[any ClientRegistry]>([])

  init() {
    unsafe chains = .allocate(capacity: 1 << Self.bits)
    unsafe chains.initialize(repeating: 0, count: 1 << Self.bits)
  }

  deinit {
    for chain in 0..<1 << Self.bits {
      var next = unsafe Self.node(at: chains[chain])
      while let node = unsafe next {
        unsafe next = node.pointee.next
        unsafe node.deinitialize(count: 1)
        unsafe node.deallocate()
      }
    }
    unsafe chains.deallocate()
  }

  /// The place of the registry for a key type; nil if there is none. It is valid while the table lives.
  @usableFromInline
  func find(_ key: ObjectIdentifier) -> UnsafeMutableRawPointer? {
    let first = unsafe multicast_load(chain(of: key), AtomicOrdering.acquiring.rawValue)
    var next = unsafe Self.node(at: first)
    while let node = unsafe next {
      if unsafe node.pointee.key == key.address { return UnsafeMutableRawPointer(node) }
      unsafe next = node.pointee.next
    }
    return nil
  }

  /// Like ``find(_:)``. Inserts the registry that `make` returns if there is none.
  func find(
    _ key: ObjectIdentifier, orInsert make: () -> any ClientRegistry
  ) -> UnsafeMutableRawPointer {
    if let found = unsafe find(key) { return unsafe found }
    return unsafe registries.withLock { registries in
      // Another thread may have inserted it.
      if let found = unsafe find(key) { return unsafe found }
      let registry = make()
      registries.append(registry)
      let chain = unsafe chain(of: key)
      let node = UnsafeMutablePointer<Node>.allocate(capacity: 1)
      unsafe node.initialize(
        to: Node(registry: registry, key: key.address, next: Self.node(at: chain.pointee)))
      unsafe multicast_store(
        chain, UInt64(UInt(bitPattern: node)), AtomicOrdering.releasing.rawValue)
      return UnsafeMutableRawPointer(node)
    }
  }

  private func chain(of key: ObjectIdentifier) -> UnsafeMutablePointer<UInt64> {
    unsafe chains + Hashing.place(of: key.address, bits: Self.bits)
  }

  private static func node(at address: UInt64) -> UnsafeMutablePointer<Node>? {
    unsafe UnsafeMutablePointer(bitPattern: UInt(address))
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
