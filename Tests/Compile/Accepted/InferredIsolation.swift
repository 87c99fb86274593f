// only: *-MainActor (code that leaves its isolation to a default of MainActor)
import Multicast

// An app whose declarations are isolated to the main actor unless they say otherwise.

protocol UserProtocol {
  func login()
  func sync() async
}

let applicationCenter = MulticastCenter { print($0) }

final class Controller: UserProtocol {
  var count = 0

  init() { applicationCenter.add(self, for: UserProtocol.self) }

  func login() { count += 1 }
  func sync() async {}

  isolated deinit { applicationCenter.remove(self) }
}

struct LoginView {
  func tap() { applicationCenter.notify(UserProtocol.self) { $0.login() } }
  func refresh() async { await applicationCenter.notify(UserProtocol.self) { await $0.sync() } }
  func tapLater() {
    Task { applicationCenter.notify(UserProtocol.self) { $0.login() } }
    Task { await applicationCenter.notify(UserProtocol.self) { await $0.sync() } }
  }
}

// A conformance to a nonisolated protocol is isolated without an annotation.
#if hasFeature(InferIsolatedConformances)
  nonisolated protocol LoginProtocol {
    func login()
  }

  final class Screen: LoginProtocol {
    var count = 0

    init(center: MulticastCenter) { center.add(self, for: LoginProtocol.self) }
    func login() { count += 1 }
  }

  func notify(center: MulticastCenter, delegates: MulticastDelegate<any LoginProtocol>) {
    let screen = Screen(center: center)
    delegates.add(screen)
    delegates.notify { $0.login() }
  }
#endif
