import Multicast

// A protocol of the main actor that is Sendable may be awaited from everywhere, and its clients may
// be added from everywhere.

@MainActor protocol ScreenProtocol: Sendable {
  func draw()
  func load() async throws
}

@MainActor final class Screen: ScreenProtocol {
  init(center: MulticastCenter) { center.add(self, for: ScreenProtocol.self) }
  func draw() {}
  func load() async throws {}
}

nonisolated func notify(
  center: MulticastCenter, delegates: MulticastDelegate<any ScreenProtocol>
) async throws {
  await center.notify(ScreenProtocol.self) { await $0.draw() }
  try await delegates.notify { screen in
    await screen.draw()
    try await screen.load()
  }
  await delegates.notify(awaiting: { @MainActor screen in screen.draw() })
}

nonisolated func add(_ screen: Screen, to center: MulticastCenter) {
  center.add(screen, for: ScreenProtocol.self)
  center.remove(screen, for: ScreenProtocol.self)
  center.remove(screen)
  center.notify(ScreenProtocol.self) { screen in Task { await screen.draw() } }
}

actor Loader {
  var count = 0

  func load(center: MulticastCenter) async {
    let screen = await Screen(center: center)
    center.add(screen, for: ScreenProtocol.self)
    await center.notify(ScreenProtocol.self) { screen in
      await screen.draw()
      count += 1
    }
  }
}
