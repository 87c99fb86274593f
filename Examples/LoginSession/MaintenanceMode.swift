import Multicast

/// A client that notifies again: it answers every login with a logout.
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
