import Multicast

nonisolated protocol UserProtocol {
  func userLogin(_ userID: UInt)
}

final class ProfileScreen: UserProtocol {
  let center = MulticastCenter()

  func userLogin(_ userID: UInt) {}

  func appear() {
    // the example
  }
}
