import Multicast
import MulticastTesting
import Testing

nonisolated struct UserLogin: Sendable {
  let id: UInt
}

nonisolated extension Topic where Message == UserLogin {
  static var userLogin: Self { Topic("userLogin") }
}

nonisolated struct MailService: Sendable {
  let center: MulticastCenter
  func fetch() { Task { center.post(.userLogin, UserLogin(id: 19000)) } }
}

@Test func example() async throws {
  let center = MulticastCenter.recordable()
  // the example
}
