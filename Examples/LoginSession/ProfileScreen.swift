import Multicast

/// A client that needs only the login.
final class ProfileScreen: UserProtocol {
  init(center: MulticastCenter) {
    center.add(self, for: UserProtocol.self)
  }

  func userLogin(_ userID: UInt) {
    print("  ProfileScreen: welcome, user \(userID)")
  }
}
