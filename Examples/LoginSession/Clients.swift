import Foundation
import Multicast

/// A client that implements only the login.
final class ProfileScreen: UserProtocol {
  init(center: MulticastCenter) { center.add(self, for: UserProtocol.self) }

  func userLogin(_ userID: UInt) { print("  ProfileScreen: welcome, user \(userID)") }
}

/// A client that implements only the logout.
final class Badge: UserProtocol {
  init(center: MulticastCenter) { center.add(self, for: UserProtocol.self) }

  func logout() { print("  Badge: no unread messages any more") }
}

/// A client that implements every method.
final class AuditLog: UserProtocol {
  init(center: MulticastCenter) { center.add(self, for: UserProtocol.self) }

  func userLogin(_ userID: UInt) { print("  AuditLog: user \(userID) logged in") }

  func logout() { print("  AuditLog: the user logged out") }
}

/// A client that answers every login with a logout, and so notifies again.
final class MaintenanceMode: UserProtocol {
  private let store: AccountStore

  init(_ store: AccountStore) {
    self.store = store
    store.center.add(self, for: UserProtocol.self)
  }

  func userLogin(_ userID: UInt) {
    print("  MaintenanceMode: logs user \(userID) out again")
    store.logout()
  }
}

/// A client that answers every logout with a login, and so notifies again.
final class AutoLogin: UserProtocol {
  private let userID: UInt
  private let store: AccountStore

  init(_ userID: UInt, _ store: AccountStore) {
    self.userID = userID
    self.store = store
    store.center.add(self, for: UserProtocol.self)
  }

  func logout() {
    print("  AutoLogin: logs user \(userID) in again")
    store.login(userID)
  }
}

/// A slow client.
final class Backup: UserProtocol {
  init(center: MulticastCenter) { center.add(self, for: UserProtocol.self) }

  func logout() {
    Thread.sleep(forTimeInterval: 0.03)
    print("  Backup: everything is saved")
  }
}
