/// A center's registry for a listener protocol (its delegate) or a message type (its topics), type-erased.
protocol ClientRegistry: AnyObject, Sendable {
  /// The lists of clients, in order.
  var lists: [ClientList] { get }

  /// Removes a client. Returns the number of its registrations.
  func removeClient(_ client: AnyObject) -> Int

  func removeAll()
}

/// Finds a center's registries by type, without a lock.
///
/// Registries stay until the center ends. Outgrown places stay, too, because a reader may use them. Together
/// they are smaller than the current ones.
///
/// Places are filled before a release makes them current. ``find(_:)`` acquires them. A reader of outgrown
/// places can only miss a later registry, and looks again with the lock held.
///
/// Unchecked, because a pointer is not Sendable. The memory behind the pointers is, and stays until this
/// object ends.
@usableFromInline @safe
final class RegistryTable: @unchecked Sendable {
  /// What the lock protects. The last places are in use.
  private struct State {
    var registries: [any ClientRegistry] = []
    var places = [RegistryPlaces(capacity: 8)]
  }

  private let state: Locked<State>
  private let current: Atomic<UInt>

  init() {
    let first = State()
    current = Atomic(ObjectIdentifier(first.places[0]).address)
    state = Locked(first)
  }

  /// The place of the registry for a key type; nil if there is none. It is valid while the table lives.
  @usableFromInline
  func find(_ key: ObjectIdentifier) -> UnsafeMutableRawPointer? {
    unsafe places._withUnsafeGuaranteedRef { unsafe $0.find(key.address) }
  }

  private var places: Unmanaged<RegistryPlaces> {
    let address = current.load(ordering: .acquiring)
    return unsafe .fromOpaque(UnsafeRawPointer(bitPattern: address).unsafelyUnwrapped)
  }

  /// Like ``find(_:)``. Inserts the registry that `make` returns if there is none.
  func find(
    _ key: ObjectIdentifier, orInsert make: () -> any ClientRegistry
  ) -> UnsafeMutableRawPointer {
    if let found = unsafe find(key) { return unsafe found }
    return unsafe state.withLock { state in
      // Another thread may have inserted it.
      if let found = unsafe find(key) { return unsafe found }
      let registry = make()
      state.registries.append(registry)
      var places = unsafe places.takeUnretainedValue()
      if state.registries.count * 2 > places.capacity {
        let grown = RegistryPlaces(capacity: 2 * places.capacity)
        grown.insert(contentsOf: places)
        state.places.append(grown)
        places = grown
      }
      let place = unsafe places.insert(registry, key: key.address)
      current.store(ObjectIdentifier(places).address, ordering: .releasing)
      return unsafe place
    }
  }

  /// All registries, in the order of their first use.
  ///
  /// The array is a copy with storage of its own. The table changes its storage in place when it is the only
  /// owner, which only the runtime knows. The thread sanitizer would not see that a caller has finished
  /// reading.
  var all: [any ClientRegistry] {
    state.withLock { state in state.registries.map { registry in registry } }
  }
}
