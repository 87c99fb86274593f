import Multicast

/// A client that answers every logout with a login, and so notifies again.
final class AutoLogin: UserProtocol {
  private let userID: UInt
  private let store: AccountStore

  init(_ userID: UInt, center: MulticastCenter, store: AccountStore) {
    self.userID = userID
    self.store = store
    center.add(self, for: UserProtocol.self)
  }

  func logout() {
    print("  AutoLogin: logs user \(userID) in again")
    store.login(userID)
  }
}
