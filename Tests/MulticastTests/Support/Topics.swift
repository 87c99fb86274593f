import Multicast

/// The message of most tests.
struct Login: Hashable, Sendable {
  let id: Int
}

extension Topic where Message == Login {
  static var login: Self { Topic("login") }
}

/// An owner for handlers that run anywhere.
final class Owner: Sendable {
  let name: String
  init(_ name: String = "owner") { self.name = name }
}

/// An owner for handlers that run on the main actor.
@MainActor final class Screen {
  var shown: [Int] = []
}
