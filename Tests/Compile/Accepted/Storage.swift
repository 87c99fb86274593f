import Multicast

// Everywhere that a center or a delegate can be kept.

nonisolated protocol UserProtocol {
  func login()
}

let defaultGlobal = MulticastCenter()
nonisolated let center = MulticastCenter(reentrancy: .allow(depth: 2))
nonisolated let delegates = MulticastDelegate<any UserProtocol>(reentrancy: .refuseNesting)

extension MulticastCenter {
  nonisolated static let application = MulticastCenter()
}

nonisolated enum Space {
  static let center = MulticastCenter()
  static let delegates = MulticastDelegate<any UserProtocol>()
  @TaskLocal static var current = MulticastCenter.default
}

nonisolated struct Value: Sendable {
  let center = MulticastCenter()
  let delegates = MulticastDelegate<any UserProtocol>()
  var optional: MulticastDelegate<any UserProtocol>?

  func notify() {
    delegates.notify { $0.login() }
    optional?.notify { $0.login() }
    Task { center.notify(UserProtocol.self) { $0.login() } }
  }
}

nonisolated final class Reference: Sendable {
  let delegates = MulticastDelegate<any UserProtocol>()
}

nonisolated final class Owner {
  lazy var center = MulticastCenter()
  weak var other: MulticastCenter?
  unowned let shared = MulticastCenter.default

  func notify() {
    center.notify(UserProtocol.self) { $0.login() }
    shared.notify(UserProtocol.self) { $0.login() }
    let called: Int? = other?.notify(UserProtocol.self) { $0.login() }
    print(called ?? 0)
  }
}

actor Session {
  let center: MulticastCenter
  let delegates = MulticastDelegate<any UserProtocol>()
  init(center: MulticastCenter = .default) { self.center = center }
}

@MainActor final class Model {
  let delegates = MulticastDelegate<any UserProtocol>()
  nonisolated func notify() { delegates.notify { $0.login() } }
}

nonisolated func fromAnywhere(
  center: MulticastCenter = .application, session: Session, model: Model
) {
  session.center.notify(UserProtocol.self) { $0.login() }
  session.delegates.notify { $0.login() }
  model.delegates.notify { $0.login() }
  Space.delegates.notify { $0.login() }
  Space.current.notify(UserProtocol.self) { $0.login() }
  delegates.notify { $0.login() }
}

func fromTheDefaultIsolation() { defaultGlobal.notify(UserProtocol.self) { $0.login() } }
