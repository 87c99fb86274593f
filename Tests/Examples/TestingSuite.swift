import Dispatch
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
  var center = MulticastCenter.current
  func fetch() { Task { center.post(.userLogin, UserLogin(id: 19000)) } }
}

nonisolated struct Item: Sendable {
  let price: Int
}

nonisolated extension Topic where Message == Item {
  static var added: Self { Topic("added") }
  static var removed: Self { Topic("removed") }
}

@MainActor final class Basket {
  var total = 0
  nonisolated init(center: MulticastCenter) {}
}

// the example
