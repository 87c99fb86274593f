import Dispatch
import Multicast

// The ways onto the main actor, from code that is not on it.

@MainActor protocol ScreenProtocol {
  func draw()
  func name() -> String
}

nonisolated func synchronous(center: MulticastCenter) {
  Task { @MainActor in center.notify(ScreenProtocol.self) { $0.draw() } }
  DispatchQueue.main.async { center.notify(ScreenProtocol.self) { $0.draw() } }
  MainActor.assumeIsolated { _ = center.notify(ScreenProtocol.self) { $0.draw() } }
}

nonisolated func asynchronous(center: MulticastCenter) async {
  let called = await MainActor.run { center.notify(ScreenProtocol.self) { $0.draw() } }
  let names = await MainActor.run { center.map(ScreenProtocol.self) { $0.name() } }
  print(called, names)
}

actor Loader {
  let center = MulticastCenter()

  func load() async {
    await MainActor.run { [center] in _ = center.notify(ScreenProtocol.self) { $0.draw() } }
    Task { @MainActor in center.notify(ScreenProtocol.self) { $0.draw() } }
  }
}
