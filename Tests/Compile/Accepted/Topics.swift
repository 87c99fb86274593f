// Closure observers in every isolation, each handler using its owner's state without a cast or a hop.
import Dispatch
import Multicast

struct Login: Sendable {
  let id: Int
}

extension Topic where Message == Login {
  nonisolated static var login: Self { Topic("login") }
}

@MainActor final class Screen {
  var badge = 0
  var observation: TopicObservation?

  init(center: MulticastCenter) {
    center.observe(.login, owner: self) { owner, login in owner.badge += login.id }
  }

  func observe(_ center: MulticastCenter) async {
    observation = center.observe(.login, owner: self, id: "audit") { owner, _ in owner.badge += 1 }
    center.observe(.login, owner: self, id: 7, once: true) { [weak self] _, _ in self?.badge += 1 }
    center.observe(.login, owner: self, id: "late") { owner, login in await owner.load(login) }
    center.observe(.login, owner: self, on: .main) { _, login in print(login) }
    observation?.cancel()
    center.post(.login, Login(id: 1))
    await center.postAndWait(.login, Login(id: 2))
  }

  func load(_ login: Login) async { badge = login.id }

  func listen(_ center: MulticastCenter) async {
    for await login in center.messages(of: .login) { badge += login.id }
  }
}

actor Store {
  private var logins: [Login] = []

  func observe(_ center: MulticastCenter) {
    center.observe(.login, owner: self) { owner, login in await owner.add(login) }
    center.observe(.login, owner: self, id: "own") { _, login in self.logins.append(login) }
    center.post(.login, Login(id: 1))
  }

  func add(_ login: Login) { logins.append(login) }

  func listen(_ center: MulticastCenter) async {
    for await login in center.messages(of: .login, buffering: .bufferingNewest(1)) {
      logins.append(login)
    }
  }
}

nonisolated final class Audit: Sendable {
  nonisolated func observe(_ center: MulticastCenter) {
    center.observe(.login, owner: self) { audit, login in audit.write(login) }
    center.observe(Topic<(id: Int, name: String)>(), owner: self) { audit, message in
      audit.write(Login(id: message.id))
    }
    center.removeObservers(of: .login, owner: self)
    center.removeObservers(of: .login)
  }

  nonisolated func write(_ login: Login) {}
}

nonisolated func post(_ center: MulticastCenter) async {
  center.post(.login, Login(id: 1))
  center.post(Topic<Int>(), 7)
  await center.postAndWait(.login, Login(id: 2))
}
