import Multicast
import Observation

// Declarations that can store a center or a delegate.

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

// The macro refers to the module Observation, so no type of the library may have that name.
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
