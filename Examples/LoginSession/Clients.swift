import Foundation
import Multicast

/// A client that implements only the login.
final class ProfileScreen: UserProtocol {
  init(center: MulticastCenter) { center.add(self, for: UserProtocol.self) }

  func userLogin(_ userID: UInt) { say("ProfileScreen", "welcome, user \(userID)") }
}

/// A client that implements only the logout.
final class Badge: UserProtocol {
  init(center: MulticastCenter) { center.add(self, for: UserProtocol.self) }

  func logout() { say("Badge", "shows no unread messages") }
}

/// A client that implements every method.
final class AuditLog: UserProtocol {
  init(center: MulticastCenter) { center.add(self, for: UserProtocol.self) }

  func userLogin(_ userID: UInt) { say("AuditLog", "user \(userID) logged in") }

  func logout() { say("AuditLog", "the user logged out") }
}

/// A client that answers every login with a logout.
final class MaintenanceMode: UserProtocol {
  private let store: AccountStore

  init(_ store: AccountStore) {
    self.store = store
    store.center.add(self, for: UserProtocol.self)
  }

  func userLogin(_ userID: UInt) {
    say("MaintenanceMode", "logs user \(userID) out")
    store.logout()
  }
}

/// A client that answers every logout with a login.
final class AutoLogin: UserProtocol {
  private let userID: UInt
  private let store: AccountStore

  init(_ userID: UInt, _ store: AccountStore) {
    self.userID = userID
    self.store = store
    store.center.add(self, for: UserProtocol.self)
  }

  func logout() {
    say("AutoLogin", "logs user \(userID) in again")
    store.login(userID)
  }
}

/// A slow client.
final class Backup: UserProtocol {
  init(center: MulticastCenter) { center.add(self, for: UserProtocol.self) }

  func logout() {
    Thread.sleep(forTimeInterval: 0.03)
    say("Backup", "has saved everything")
  }
}
