import Multicast

/// The listener protocol of the account store.
protocol UserProtocol {
  func userLogin(_ userID: UInt)
  func logout()
}

// Every method has a default, so a client implements what it needs.
extension UserProtocol {
  func userLogin(_ userID: UInt) {}
  func logout() {}
}

/// Announces logins and logouts. It knows the center, and none of the clients.
struct AccountStore {
  let center: MulticastCenter

  func login(_ userID: UInt) {
    say("AccountStore", "notify: login \(userID)")
    center.notify(UserProtocol.self) { $0.userLogin(userID) }
  }

  func logout() {
    say("AccountStore", "notify: logout")
    center.notify(UserProtocol.self) { $0.logout() }
  }
}
