import Multicast

/// Announces logins and logouts. It knows the center and no client.
struct AccountStore {
  private let center: MulticastCenter

  init(center: MulticastCenter) {
    self.center = center
  }

  func login(_ userID: UInt) {
    center.notify(UserProtocol.self) { $0.userLogin(userID) }
  }

  func logout() {
    center.notify(UserProtocol.self) { $0.logout() }
  }
}
