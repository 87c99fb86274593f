// only: *-MainActor (code that leaves its isolation to a default of MainActor)
import Multicast

// An application as it is written where everything is on the main actor unless it says otherwise.

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
