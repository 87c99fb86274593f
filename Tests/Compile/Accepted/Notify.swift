import Multicast

// The usual calls, without an annotation of isolation. They compile because the protocol and the
// code that notifies have the same
// default isolation.

protocol UserProtocol {
  func login(_ userID: Int)
  func name() -> String
  @discardableResult func ping() -> Int
}

final class Node {
  var name = ""
}

func notify(
  center: MulticastCenter, delegates: MulticastDelegate<UserProtocol>, nodes: [Node]
) async -> [Node] {
  center.notify((any UserProtocol).self, { $0.login(19000) })
  center[UserProtocol.self].notify { client in client.login(19000) }
  delegates.notify(forEach: ["a": 1]) { client, event in
    client.login(event.value)
    client.ping()
  }
  let names: [String] = delegates.map { $0.name() }
  let open = center.map(UserProtocol.self) { $0.ping() > 0 ? nil : $0.name() }.compactMap { $0 }
  print(names, open)
  // Events and answers need not be Sendable, because they do not leave the caller's actor, in
  // asynchronous code either.
  center[UserProtocol.self].notify(forEach: nodes) { client, node in node.name = client.name() }
  return center.map(UserProtocol.self) { _ in nodes[0] }
}

// A body of any shape may return a value. The caller may ignore the number of clients.
func bodies(center: MulticastCenter) -> Int {
  center.notify(UserProtocol.self) { $0.ping() }
  center.notify(UserProtocol.self) { ($0 as? Receptionist)?.open() }
  center.notify(UserProtocol.self) {
    guard $0.ping() > 1 else { return }
    $0.login(1)
  }
  if center.notify(UserProtocol.self, { $0.ping() }) == 0 { print("no client") }
  let called: Int = center.notify(UserProtocol.self) { $0.ping() }
  return called + center.notify(UserProtocol.self) { $0.ping() }
}

// A body need not be a closure. It runs before `notify` returns, in the caller's isolation, so it
// may change what it captures.
final class Receptionist: UserProtocol {
  let center = MulticastCenter()
  var greeted = 0

  init() { center.add(self, for: UserProtocol.self) }
  func login(_ userID: Int) {}
  func name() -> String { "" }
  func ping() -> Int { 0 }

  func greet(_ client: any UserProtocol) { greeted += 1 }
  func greet(_ client: any UserProtocol, times: Int) { greeted += times }
  func ask(_ client: any UserProtocol) -> String { client.name() }

  func open() {
    center.notify(UserProtocol.self, self.greet(_:))
    center[UserProtocol.self].notify(forEach: 1...3, greet(_:times:))
    print(center.map(UserProtocol.self, ask))
    center.notify(UserProtocol.self) { [weak self] client in self?.greet(client) }
  }
}

struct Report {
  var names: [String] = []

  mutating func run(center: MulticastCenter, total: inout Int) {
    center.notify(UserProtocol.self) {
      names.append($0.name())
      total += 1
    }
    names += center.map(UserProtocol.self) { client in
      total += 1
      return client.name()
    }
  }
}
