import Multicast

// Classes of the main actor as clients of a protocol that knows no actor: one whose methods find
// their way back, and one that conforms on the main actor only.

nonisolated protocol UserProtocol {
  func login()
}

@MainActor final class Label: UserProtocol {
  var count = 0

  init(center: MulticastCenter) { center.add(self, for: UserProtocol.self) }

  nonisolated func login() { Task { @MainActor in self.count += 1 } }
}

nonisolated func notify(center: MulticastCenter, label: Label) {
  center.add(label, for: UserProtocol.self)
  center.notify(UserProtocol.self) { $0.login() }
}

@MainActor final class Screen {
  var count = 0

  init(center: MulticastCenter) { center.add(self, for: UserProtocol.self) }
}

@MainActor extension Screen: @MainActor UserProtocol {
  @MainActor func login() { count += 1 }
}

@MainActor func notify(
  screen: Screen, center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>
) async {
  delegates.add(screen)
  center.notify(UserProtocol.self) { $0.login() }
  print(delegates.map { _ in screen.count }, center.contains(screen, for: UserProtocol.self))
  await center.notify(UserProtocol.self) { client in
    client.login()
    await Task.yield()
  }
  center.remove(screen)
}
