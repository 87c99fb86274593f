// Clients and handlers that live on a queue.
import Dispatch
import Multicast

nonisolated protocol UserProtocol {
  func login(_ id: Int)
}

nonisolated protocol StoreProtocol: Sendable {
  func count(_ id: Int)
}

nonisolated final class Store: UserProtocol, StoreProtocol {
  func login(_ id: Int) {}
  func count(_ id: Int) {}
}

nonisolated func add(
  _ store: Store, center: MulticastCenter, users: MulticastDelegate<any UserProtocol>,
  stores: MulticastDelegate<any StoreProtocol>, queue: DispatchQueue
) {
  center.add(store, for: UserProtocol.self, on: queue)
  center.add(store, for: StoreProtocol.self, on: queue)
  users.add(store, on: queue)
  stores.add(store, on: queue)
  users.add(store, on: .main)
  center.add(store, for: UserProtocol.self, isolation: nil)
  center.observe(Topic<Int>(), owner: store, on: queue) { store, number in store.count(number) }
}
