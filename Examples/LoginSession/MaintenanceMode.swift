import Multicast

/// A client that answers every login with a logout, and so notifies again.
final class MaintenanceMode: UserProtocol {
  private let store: AccountStore

  init(center: MulticastCenter, store: AccountStore) {
    self.store = store
    center.add(self, for: UserProtocol.self)
  }

  func userLogin(_ userID: UInt) {
    print("  MaintenanceMode: logs user \(userID) out again")
    store.logout()
  }
}
