import Multicast

final class MulticastNotify: System {
  private let center = MulticastCenter(onRecursion: { _ in })

  init(keepsLatest: Bool) {}

  func add(_ listener: Listener, at place: Place) -> Bool {
    guard case .here = place else { return false }
    center.add(listener, for: Ear.self)
    return true
  }

  func add(_ value: ValueListener) { center.add(value, for: Ear.self) }
  func remove(_ listener: Listener) { center.remove(listener, for: Ear.self) }
  func send(_ number: Int, _ kind: Kind, line: Int) {
    center.notify(Ear.self, line: line) { $0.hear(number, kind) }
  }

  func sendThrowing(_ number: Int) throws -> Bool {
    try center.notify(Ear.self) { try $0.tryToHear(number) }
    return true
  }
}

final class MulticastPost: System {
  private let center = MulticastCenter(onRecursion: { _ in })
  private let latest: Topic<Int>?

  init(keepsLatest: Bool) {
    latest = keepsLatest ? Topic("latest", keepsLatest: true) : nil
  }

  func add(_ listener: Listener, at place: Place) -> Bool {
    if let latest {
      center.observe(latest, owner: listener) { $0.hear($1, .first) }
      return true
    }
    switch place {
    case .here: center.add(listener, for: Ear.self)
    case .queue(let queue): center.add(listener, for: Ear.self, on: queue)
    case .mainActor: center.add(listener, for: Ear.self, on: .main)
    }
    return true
  }

  func add(_ value: ValueListener) { center.add(value, for: Ear.self) }
  func remove(_ listener: Listener) { center.remove(listener, for: Ear.self) }

  func send(_ number: Int, _ kind: Kind, line: Int) {
    if let latest {
      center.post(latest, number, line: line)
    } else {
      center.post(Ear.self, line: line) { $0.hear(number, kind) }
    }
  }
}
