import Dispatch
import Multicast

// Protocols of the main actor. Code on the main actor notifies their clients; other code hops there
// first, or awaits the clients
// if they are Sendable.

@MainActor protocol ScreenProtocol {
  func draw()
  func load() async
}

@MainActor protocol SendableProtocol: Sendable {
  func draw()
  func load() async throws
}

// A client adds itself in its initializer. It may do anything in its deinitializer, which may run
// on any thread.
@MainActor final class Screen: ScreenProtocol, SendableProtocol {
  let center: MulticastCenter

  init(center: MulticastCenter) {
    self.center = center
    center.add(self, for: ScreenProtocol.self)
  }

  func draw() {}
  func load() async {}

  deinit {
    center.add(self, for: ScreenProtocol.self)
    center.remove(self)
  }
}

@MainActor final class IsolatedScreen: ScreenProtocol {
  let delegates = MulticastDelegate<any ScreenProtocol>()
  var count = 0

  nonisolated init(center: MulticastCenter) { center.add(self, for: ScreenProtocol.self) }

  func draw() {}
  func load() async {}

  isolated deinit {
    delegates.remove(self)
    delegates.notify { screen in
      screen.draw()
      count += 1
    }
  }
}

@MainActor final class Model {
  let center = MulticastCenter()
  let delegates = MulticastDelegate<any ScreenProtocol>()
  var count = 0

  // A method of the main actor is a body there.
  func draw(_ screen: any ScreenProtocol) { screen.draw() }

  func notify(_ screen: any ScreenProtocol) async {
    delegates.add(screen)
    delegates.notify(forEach: [1, 2]) { screen, number in
      screen.draw()
      count += number
    }
    print(delegates.map { "\($0) \(count)" })
    await delegates.notify { screen in
      await screen.load()
      screen.draw()
      count += 1
    }
    Task { await delegates.notify { await $0.load() } }
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

// Classes of the main actor as clients of a nonisolated protocol: one has a nonisolated method that
// starts a task on the main
// actor, and the other one conforms only on the main actor.

nonisolated protocol UserProtocol {
  func login()
}

@MainActor final class Label: UserProtocol {
  var count = 0

  nonisolated func login() { Task { @MainActor in self.count += 1 } }
}

nonisolated func notify(center: MulticastCenter, label: Label) {
  center.add(label, for: UserProtocol.self)
  center.notify(UserProtocol.self) { $0.login() }
}

@MainActor final class Panel {
  var count = 0

  init(center: MulticastCenter) { center.add(self, for: UserProtocol.self) }
}

@MainActor extension Panel: @MainActor UserProtocol {
  @MainActor func login() { count += 1 }
}

@MainActor func notify(panel: Panel, delegates: MulticastDelegate<any UserProtocol>) async {
  delegates.add(panel)
  print(delegates.map { _ in panel.count }, delegates.contains(panel))
  await delegates.notify { client in
    client.login()
    await Task.yield()
  }
  delegates.remove(panel)
}

// The same holds for a global actor that a program declares.
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
    await center.notify(ShelfProtocol.self) { client in
      client.put(items.count)
      await Task.yield()
    }
  }
}
