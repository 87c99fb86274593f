import Multicast

// Adding and removing: results may be dropped, and clients may be existentials.

protocol UserProtocol {
  func login()
}

protocol AdministratorProtocol: UserProtocol {
  func reset()
}

final class Administrator: AdministratorProtocol {
  func login() {}
  func reset() {}
}

func concrete(center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>) {
  let client = Administrator()
  center.add(client, for: UserProtocol.self)
  center.add(client, for: AdministratorProtocol.self)
  center[UserProtocol.self].add(client)
  delegates.add(client)
  precondition(center.contains(client, for: UserProtocol.self))
  precondition(center.remove(client, for: UserProtocol.self))
  center.remove(client, for: AdministratorProtocol.self)
  center.remove(client)
  print(delegates.contains(client), delegates.remove(client))
  center.removeAll(for: UserProtocol.self)
  center.removeAll()
  if !delegates.isEmpty, delegates.count > 1 { delegates.removeAll() }
}

func existential(
  clients: [any UserProtocol], administrator: any AdministratorProtocol, center: MulticastCenter
) {
  for client in clients { center.add(client, for: UserProtocol.self) }
  clients.forEach { center.add($0, for: UserProtocol.self) }
  clients.forEach { center[UserProtocol.self].add($0) }
  center.add(administrator, for: UserProtocol.self)
  for client in center.clients(for: UserProtocol.self) {
    center.remove(client, for: UserProtocol.self)
    center.remove(client as AnyObject)
  }
  let key = UserProtocol.self
  if let first = clients.first { center.add(first, for: key) }
  center.notify(key) { $0.login() }
}
