import Multicast

// A client joins in its initialiser, and may do anything in its deinitialiser.

nonisolated protocol UserProtocol {
  func login()
}

nonisolated final class Client: UserProtocol {
  let center: MulticastCenter

  init(center: MulticastCenter) {
    self.center = center
    center.add(self, for: UserProtocol.self)
  }

  convenience init() { self.init(center: .default) }

  func login() {
    center.notify(UserProtocol.self) { $0.login() }
    center.remove(self)
  }

  deinit {
    center.add(self, for: UserProtocol.self)
    center.remove(self, for: UserProtocol.self)
    center.remove(self)
    print(center.contains(self, for: UserProtocol.self))
    center.notify(UserProtocol.self) { $0.login() }
  }
}

nonisolated class Base: UserProtocol {
  init(center: MulticastCenter) { center.add(self, for: UserProtocol.self) }
  func login() {}
}

nonisolated final class Derived: Base {
  let delegates = MulticastDelegate<any UserProtocol>()

  override init(center: MulticastCenter) {
    super.init(center: center)
    delegates.add(self)
  }

  deinit { delegates.removeAll() }
}
