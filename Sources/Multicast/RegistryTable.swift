import Synchronization

/// What a center keeps for a listener protocol, as far as it can be used without the protocol.
protocol ClientRegistry: AnyObject, Sendable {
  /// Removes a client, and returns how many registrations of it there were.
  func removeClient(_ client: AnyObject) -> Int

  func removeAll()
}

/// Finds a center's delegates by their listener type. Finding takes no lock.
///
/// Delegates stay until the center ends. So do places that were outgrown, because somebody may be
/// looking in them; all of them together are smaller than the ones in use.
///
/// Unchecked, because a pointer is not Sendable. What the pointers lead to is, and it stays there
/// until this object ends.
@usableFromInline
@safe
final class DelegateTable: @unchecked Sendable {
  /// What is written with the lock held. The last places are the ones in use.
  @safe
  private struct State: ~Copyable {
    var delegates: [any ClientRegistry] = []
    var places: [UnsafeMutablePointer<DelegatePlaces>] = unsafe []
  }

  private let state: Locked<State>
  private let current: Atomic<UnsafeMutablePointer<DelegatePlaces>>

  init() {
    let first = UnsafeMutablePointer<DelegatePlaces>.allocate(capacity: 1)
    unsafe first.initialize(to: DelegatePlaces(capacity: 8))
    unsafe current = Atomic(first)
    state = unsafe Locked(State(places: [first]))
  }

  deinit {
    state.withLock { state in
      while let places = unsafe state.places.popLast() {
        unsafe places.deinitialize(count: 1)
        unsafe places.deallocate()
      }
    }
  }

  /// Where the delegate for a listener type is kept, as long as the table lives; nil if there is none.
  @usableFromInline
  func find(_ listener: ObjectIdentifier) -> UnsafeMutableRawPointer? {
    unsafe current.load(ordering: .acquiring).pointee.find(listener.address)
  }

  /// As ``find(_:)``, with a delegate made by `make` where there is none.
  func find(
    _ listener: ObjectIdentifier, orInsert make: () -> any ClientRegistry
  ) -> UnsafeMutableRawPointer {
    if let found = unsafe find(listener) { return unsafe found }
    return unsafe state.withLock { state in
      // Somebody else may have been faster.
      if let found = unsafe find(listener) { return unsafe found }
      let delegate = make()
      state.delegates.append(delegate)
      var places = unsafe current.load(ordering: .relaxed)
      if unsafe state.delegates.count * 2 > places.pointee.capacity {
        let grown = UnsafeMutablePointer<DelegatePlaces>.allocate(capacity: 1)
        unsafe grown.initialize(to: DelegatePlaces(capacity: 2 * places.pointee.capacity))
        unsafe grown.pointee.insert(contentsOf: places.pointee)
        unsafe state.places.append(grown)
        unsafe places = grown
      }
      let place = unsafe places.pointee.insert(delegate, key: listener.address)
      unsafe current.store(places, ordering: .releasing)
      return unsafe place
    }
  }

  /// All delegates, in the order in which they were first asked for.
  var all: [any ClientRegistry] { state.withLock { $0.delegates } }
}
