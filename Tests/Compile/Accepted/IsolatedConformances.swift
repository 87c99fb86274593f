import Multicast

// A class of the main actor may conform there to a protocol that knows no actor.

nonisolated protocol UserProtocol {
  func login()
  func name() -> String
}

@MainActor final class Screen {
  var count = 0

  init(center: MulticastCenter) { center.add(self, for: UserProtocol.self) }
}

@MainActor extension Screen: @MainActor UserProtocol {
  @MainActor func login() { count += 1 }
  @MainActor func name() -> String { "\(count)" }
}

@MainActor func notify(center: MulticastCenter) async {
  let screen = Screen(center: center)
  center.notify(UserProtocol.self) { $0.login() }
  print(center.map(UserProtocol.self) { $0.name() })
  print(center.contains(screen, for: UserProtocol.self))
  await center.notify(UserProtocol.self) { client in
    client.login()
    await Task.yield()
  }
  let delegates = MulticastDelegate<any UserProtocol>()
  delegates.add(screen)
  delegates.notify { $0.login() }
  center.remove(screen)
}
