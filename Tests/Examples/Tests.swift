import Multicast
import Testing

nonisolated protocol UserProtocol {
  func userLogin(_ id: UInt)
}

nonisolated struct UserLogin: Sendable {
  let id: UInt
}

nonisolated extension Topic where Message == UserLogin {
  static var userLogin: Self { Topic("userLogin") }
}

// the example
