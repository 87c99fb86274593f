import Multicast
import Observation

// Everywhere that a center or a delegate can be kept.

nonisolated protocol UserProtocol {
  func login()
}

let defaultGlobal = MulticastCenter()
nonisolated let delegates = MulticastDelegate<any UserProtocol>(reentrancy: .refuseNesting)

extension MulticastCenter {
  nonisolated static let application = MulticastCenter()
}

nonisolated enum Space {
  @TaskLocal static var current = MulticastCenter.default
}

nonisolated struct Value: Sendable {
  let center = MulticastCenter()
  var optional: MulticastDelegate<any UserProtocol>?

  func notify() {
    optional?.notify { $0.login() }
    Task { center.notify(UserProtocol.self) { $0.login() } }
  }
}

// The macro looks for the module Observation, which no name of ours may hide.
@Observable @MainActor final class Model {
  let delegates = MulticastDelegate<any UserProtocol>()
  var number = 0
  nonisolated func notify() { delegates.notify { $0.login() } }
}

nonisolated func fromAnywhere(center: MulticastCenter = .application, model: Model) {
  center.notify(UserProtocol.self) { $0.login() }
  model.delegates.notify { $0.login() }
  Space.current.notify(UserProtocol.self) { $0.login() }
  delegates.notify { $0.login() }
}

func fromTheDefaultIsolation() { defaultGlobal.notify(UserProtocol.self) { $0.login() } }
