import Multicast
import Testing

protocol UserProtocol {
  func userLogin(_ id: UInt)
}

struct UserLogin: Sendable {
  let id: UInt
}

extension Topic where Message == UserLogin {
  static var userLogin: Self { Topic("userLogin") }
}

// the example
