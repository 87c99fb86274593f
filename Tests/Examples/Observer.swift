import Multicast

nonisolated struct UserLogin: Sendable {
  let id: UInt
}
nonisolated extension Topic where Message == UserLogin {
  static var userLogin: Self { Topic("userLogin") }
}
nonisolated extension Topic<Void> {
  static var logout: Self { Topic("logout") }
}

actor Store {
  var logins: [UserLogin] = []
  func add(_ login: UserLogin) {}
}

@MainActor final class Screen {
  let center = MulticastCenter()
  let store = Store()
  var badge = 0

  func show(_ id: UInt) {}
  func show(_ login: UserLogin) {}

  func appear() async {
    // the example
  }
}
