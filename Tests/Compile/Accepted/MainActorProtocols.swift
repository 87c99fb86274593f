import Multicast

// A protocol of the main actor, with code that is on the main actor.

@MainActor protocol ScreenProtocol {
  func draw()
  func name() -> String
  func load() async
}

@MainActor final class Screen: ScreenProtocol {
  init(center: MulticastCenter) { center.add(self, for: ScreenProtocol.self) }
  func draw() {}
  func name() -> String { "" }
  func load() async {}
}

@MainActor final class Model {
  let center = MulticastCenter()
  let delegates = MulticastDelegate<any ScreenProtocol>()
  var count = 0

  func add(_ screen: any ScreenProtocol) {
    center.add(screen, for: ScreenProtocol.self)
    delegates.add(screen)
  }

  func notify() {
    center.notify(ScreenProtocol.self) { $0.draw() }
    center.notify(ScreenProtocol.self) { screen in
      screen.draw()
      count += 1
      self.increase()
    }
    delegates.notify(forEach: [1, 2]) { screen, number in
      screen.draw()
      count += number
    }
    print(delegates.map { "\($0.name()) \(count)" })
  }

  func notifyLater() async {
    center.notify(ScreenProtocol.self) { $0.draw() }
    delegates.notify { $0.draw() }
    await center.notify(ScreenProtocol.self) { screen in
      await screen.load()
      screen.draw()
      count += 1
    }
    await delegates.notify(awaiting: { await $0.load() })
  }

  func notifyInTask() {
    Task { center.notify(ScreenProtocol.self) { $0.draw() } }
    Task { await delegates.notify { await $0.load() } }
  }

  func increase() { count += 1 }

  // A method of the main actor is a body there.
  func draw(_ screen: any ScreenProtocol) { screen.draw() }
  func notifyWithMethods() async {
    center.notify(ScreenProtocol.self, draw)
    delegates.notify(self.draw)
    await delegates.notify(awaiting: draw)
    let stored: @MainActor (any ScreenProtocol) -> Void = { $0.draw() }
    center.notify(ScreenProtocol.self, stored)
  }
}

@MainActor func notify(center: MulticastCenter) {
  center.notify(ScreenProtocol.self) { $0.draw() }
}
