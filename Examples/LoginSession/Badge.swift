import Multicast

/// A client that implements only the logout.
final class Badge: UserProtocol {
  init(center: MulticastCenter) {
    center.add(self, for: UserProtocol.self)
  }

  func logout() {
    print("  Badge: no unread messages any more")
  }
}
