import Multicast

// A body need not be a closure.

protocol UserProtocol {
  func login()
  func name() -> String
}

func greet(_ client: any UserProtocol) { client.login() }

final class Receptionist {
  var greeted = 0

  func greet(_ client: any UserProtocol) {
    client.login()
    greeted += 1
  }
  func greet(_ client: any UserProtocol, times: Int) { greeted += times }
  func ask(_ client: any UserProtocol) -> String { client.name() }
  func greetLater(_ client: any UserProtocol) async { client.login() }

  func open(center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>) {
    center.notify(UserProtocol.self, self.greet(_:))
    delegates.notify(greet(_:))
    center.notify(UserProtocol.self, forEach: 1...3, greet(_:times:))
    print(center.map(UserProtocol.self, ask), delegates.map(self.ask))
  }

  func openLater(center: MulticastCenter) async {
    center.notify(UserProtocol.self, greet(_:))
  }
}

func functions(center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>) {
  func local(_ client: any UserProtocol) { client.login() }
  let stored: (any UserProtocol) -> Void = { $0.login() }
  center.notify(UserProtocol.self, greet)
  center.notify(UserProtocol.self, local)
  center.notify(UserProtocol.self, stored)
  delegates.notify(greet)
  delegates.notify(local)
  delegates.notify(stored)
}

func passOn(center: MulticastCenter, body: (any UserProtocol) -> Void) {
  center.notify(UserProtocol.self, body)
  center.notify(UserProtocol.self) { body($0) }
}
