import Multicast

nonisolated struct UserLogin: Sendable {
  let id: UInt
}
nonisolated extension Topic where Message == UserLogin {
  static var userLogin: Self { Topic("userLogin") }
}

let center = MulticastCenter()

// the example
