import Multicast

// Keys and clients whose types are parameters.

protocol UserProtocol {
  func login()
}

func object<Client: AnyObject>(_ client: Client, center: MulticastCenter) {
  center.add(client, for: Client.self)
  center.notify(Client.self) { print(ObjectIdentifier($0)) }
  center.remove(client)
}

func anything<Listener>(_ client: Listener, for key: Listener.Type, center: MulticastCenter) {
  center.add(client, for: key)
  center.notify(key) { print($0) }
  print(center.clients(for: key))
  center.remove(client, for: key)
}

func sendable<Listener: Sendable>(_ client: Listener, delegates: MulticastDelegate<Listener>) {
  delegates.add(client)
  Task { delegates.remove(client) }
}

func conforming<Client: UserProtocol & AnyObject>(_ client: Client, center: MulticastCenter) {
  center.add(client, for: UserProtocol.self)
  center.remove(client)
}

func opaque(_ client: some UserProtocol, center: MulticastCenter) {
  center.add(client, for: UserProtocol.self)
  center.remove(client, for: UserProtocol.self)
}

extension UserProtocol {
  func listen(to center: MulticastCenter) { center.add(self, for: UserProtocol.self) }
}

final class Bus<Listener: AnyObject> {
  var delegates = MulticastDelegate<Listener>()
  func add(_ client: Listener) { delegates.add(client) }
  func tell(_ body: (Listener) -> Void) { delegates.notify(body) }
}

protocol Notifying {
  associatedtype Listener
  var delegates: MulticastDelegate<Listener> { get }
}

extension Notifying {
  func tell(_ body: (Listener) -> Void) { delegates.notify(body) }
}

final class Download: Notifying {
  let delegates = MulticastDelegate<any UserProtocol>()
}

extension MulticastDelegate where Listener == any UserProtocol {
  nonisolated var isQuiet: Bool { isEmpty }
}

func use(download: Download) {
  download.tell { $0.login() }
  print(download.delegates.isQuiet)
}
