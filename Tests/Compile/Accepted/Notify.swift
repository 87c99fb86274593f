import Multicast

// What everybody writes, without a word about isolation: whatever the default is, it is the same
// for the protocol and for the code that notifies.

protocol UserProtocol {
  func userLogin(_ userID: UInt)
  func logout() -> Bool
  @discardableResult func ping() -> Int
}

extension UserProtocol {
  func userLogin(_ userID: UInt) {}
  func logout() -> Bool { true }
  func ping() -> Int { 0 }
}

protocol Pausing {
  func pause()
}

final class ProfileScreen: UserProtocol {
  init(center: MulticastCenter) { center.add(self, for: UserProtocol.self) }
  func userLogin(_ userID: UInt) {}
}

func notify(center: MulticastCenter) {
  center.notify(UserProtocol.self) { $0.userLogin(19000) }
  center.notify((any UserProtocol).self) { $0.userLogin(19000) }
  center.notify(UserProtocol.self, { $0.userLogin(19000) })
  center.notify(UserProtocol.self) { client in client.userLogin(19000) }
  center[UserProtocol.self].notify { $0.userLogin(19000) }
  MulticastCenter.default.notify(UserProtocol.self) { $0.userLogin(19000) }
}

func notify(delegates: MulticastDelegate<UserProtocol>, optional: MulticastCenter?) {
  delegates.notify { $0.userLogin(19000) }
  delegates.notify({ $0.userLogin(19000) })
  optional?.notify(UserProtocol.self) { $0.userLogin(19000) }
  optional?[UserProtocol.self].notify { $0.userLogin(19000) }
}

// Neither the number of clients nor a discardable answer has to be used.
func results(center: MulticastCenter) -> Int {
  center.notify(UserProtocol.self) { $0.ping() }
  center.notify(UserProtocol.self) { _ = $0.logout() }
  if center.notify(UserProtocol.self, { $0.ping() }) == 0 { print("nobody") }
  let called: Int = center.notify(UserProtocol.self) { $0.ping() }
  return called + center.notify(UserProtocol.self) { $0.ping() }
}

// Bodies of any shape are still bodies that return nothing.
func bodies(center: MulticastCenter) {
  center.notify(UserProtocol.self) { _ in }
  center.notify(UserProtocol.self) { if $0.logout() { $0.ping() } }
  center.notify(UserProtocol.self) { ($0 as? any Pausing)?.pause() }
  center.notify(UserProtocol.self) { print($0.ping()) }
  center.notify(UserProtocol.self) { client in
    client.userLogin(1)
    client.userLogin(2)
  }
  center.notify(UserProtocol.self) {
    guard $0.ping() > 1 else { return }
    $0.userLogin(1)
  }
  center.notify(UserProtocol.self) { client in
    switch client.ping() {
    case 0: client.userLogin(0)
    default: break
    }
  }
}
