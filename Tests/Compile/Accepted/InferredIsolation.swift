// only: *-MainActor (code that leaves its isolation to a default of MainActor)
import Multicast

// An application as it is written where everything is on the main actor unless it says otherwise.

protocol UserProtocol {
  func login()
  func sync() async
}

let applicationCenter = MulticastCenter { print($0) }

class Controller: UserProtocol {
  init() {}
  func login() {}
  func sync() async {}
}

final class ProfileController: Controller {
  let center: MulticastCenter
  var count = 0

  init(center: MulticastCenter) {
    self.center = center
    super.init()
    center.add(self, for: UserProtocol.self)
  }

  override func login() { count += 1 }

  isolated deinit { center.remove(self) }
}

struct LoginView {
  func tap() { applicationCenter.notify(UserProtocol.self) { $0.login() } }
  func refresh() async { await applicationCenter.notify(UserProtocol.self) { await $0.sync() } }
  func tapLater() {
    Task { applicationCenter.notify(UserProtocol.self) { $0.login() } }
    Task { await applicationCenter.notify(UserProtocol.self) { await $0.sync() } }
  }
}
