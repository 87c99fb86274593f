import Multicast

/// A client that implements only the login.
final class ProfileScreen: UserProtocol {
  init(center: MulticastCenter) {
    center.add(self, for: UserProtocol.self)
  }

  func userLogin(_ userID: UInt) {
    print("  ProfileScreen: welcome, user \(userID)")
  }
}
