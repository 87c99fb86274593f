import Dispatch
import Multicast

// Protocols of the main actor: notified on it by anybody, from elsewhere by way of it, or awaited
// if they are Sendable.

@MainActor protocol ScreenProtocol {
  func draw()
  func load() async
}

@MainActor protocol SendableProtocol: Sendable {
  func draw()
  func load() async throws
}

@MainActor final class Screen: ScreenProtocol, SendableProtocol {
  init(center: MulticastCenter) { center.add(self, for: ScreenProtocol.self) }
  func draw() {}
  func load() async {}
}

@MainActor final class Model {
  let center = MulticastCenter()
  let delegates = MulticastDelegate<any ScreenProtocol>()
  var count = 0

  func notify(_ screen: any ScreenProtocol) {
    delegates.add(screen)
    center.notify(ScreenProtocol.self) { screen in
      screen.draw()
      count += 1
    }
    delegates.notify(forEach: [1, 2]) { screen, number in
      screen.draw()
      count += number
    }
    print(delegates.map { "\($0) \(count)" })
  }

  func notifyLater() async {
    center.notify(ScreenProtocol.self) { $0.draw() }
    await delegates.notify { screen in
      await screen.load()
      screen.draw()
      count += 1
    }
    await delegates.notify(awaiting: { await $0.load() })
    Task { center.notify(ScreenProtocol.self) { $0.draw() } }
    Task { await delegates.notify { await $0.load() } }
  }

  // A method of the main actor is a body there.
  func draw(_ screen: any ScreenProtocol) { screen.draw() }
  func notifyWithMethods() async {
    let stored: @MainActor (any ScreenProtocol) -> Void = { $0.draw() }
    center.notify(ScreenProtocol.self, stored)
    center.notify(ScreenProtocol.self, draw)
    await delegates.notify(awaiting: draw)
  }
}

nonisolated func synchronous(center: MulticastCenter) {
  Task { @MainActor in center.notify(ScreenProtocol.self) { $0.draw() } }
  DispatchQueue.main.async { center.notify(ScreenProtocol.self) { $0.draw() } }
  MainActor.assumeIsolated { _ = center.notify(ScreenProtocol.self) { $0.draw() } }
}

nonisolated func asynchronous(
  _ screen: Screen, center: MulticastCenter, delegates: MulticastDelegate<any SendableProtocol>
) async throws {
  print(await MainActor.run { center.map(ScreenProtocol.self) { "\($0)" } })
  delegates.add(screen)
  center.remove(screen, for: SendableProtocol.self)
  center.notify(SendableProtocol.self) { screen in Task { await screen.draw() } }
  try await delegates.notify { screen in
    await screen.draw()
    try await screen.load()
  }
  await delegates.notify(awaiting: { @MainActor screen in screen.draw() })
}

actor Loader {
  let center = MulticastCenter()
  var count = 0

  func load() async {
    await MainActor.run { [center] in _ = center.notify(ScreenProtocol.self) { $0.draw() } }
    center.add(await Screen(center: center), for: SendableProtocol.self)
    await center.notify(SendableProtocol.self) { screen in
      await screen.draw()
      count += 1
    }
  }
}

// A program's own global actors are no different.
@globalActor actor Storage {
  static let shared = Storage()
}

@Storage protocol ShelfProtocol {
  func put(_ item: Int)
}

@Storage final class Shelf: ShelfProtocol {
  var items: [Int] = []

  func put(_ item: Int) { items.append(item) }

  func fill(center: MulticastCenter) async {
    center.add(self, for: ShelfProtocol.self)
    center.notify(ShelfProtocol.self, forEach: items) { $0.put($1) }
    await center.notify(ShelfProtocol.self) { client in
      client.put(items.count)
      await Task.yield()
    }
  }
}
