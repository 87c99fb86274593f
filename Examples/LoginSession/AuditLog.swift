import Multicast

/// A client that implements every method.
final class AuditLog: UserProtocol {
  init(center: MulticastCenter) {
    center.add(self, for: UserProtocol.self)
  }

  func userLogin(_ userID: UInt) {
    print("  AuditLog: user \(userID) logged in")
  }

  func logout() {
    print("  AuditLog: the user logged out")
  }
}
