import Multicast

// The same for actors, whose synchronous initialiser is nonisolated once it has let `self` go.

nonisolated protocol LogProtocol {
  func log()
}

actor File: LogProtocol {
  let center: MulticastCenter
  var count = 0

  init(center: MulticastCenter) {
    self.center = center
    center.add(self, for: LogProtocol.self)
  }

  init(asynchronously center: MulticastCenter) async {
    self.center = center
    center.add(self, for: LogProtocol.self)
    count += 1
    center.notify(LogProtocol.self) { $0.log() }
  }

  nonisolated func log() {}

  deinit {
    center.remove(self, for: LogProtocol.self)
    center.remove(self)
    center.notify(LogProtocol.self) { $0.log() }
  }
}

actor IsolatedFile: LogProtocol {
  let delegates = MulticastDelegate<any LogProtocol>()
  var count = 0

  init() { delegates.add(self) }

  nonisolated func log() {}

  isolated deinit {
    delegates.remove(self)
    delegates.notify { _ in count += 1 }
  }
}
