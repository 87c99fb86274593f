import Dispatch
import Multicast

// Handlers that are closures, in every isolation. Each uses its owner's state without a cast or a
// hop.

extension Topic where Message == Int {
  nonisolated static var login: Self { Topic("login", keepsLatest: true) }
}
extension Topic<Void> {
  nonisolated static var logout: Self { Topic("logout") }
}

@MainActor final class Screen {
  var badge = 0
  var observation: TopicObservation?

  func observe(_ center: MulticastCenter) async {
    center.observe(.login, owner: self) { owner, id in owner.badge += id }
    observation = center.observe(.login, owner: self, id: "audit") { owner, _ in owner.badge += 1 }
    center.observe(.login, owner: self, id: 7, once: true) { [weak self] _, _ in self?.badge += 1 }
    center.observe(.login, owner: self, id: "late") { owner, id in await owner.load(id) }
    center.observe(.login, owner: self, on: .main) { _, id in print(id) }
    center.observe(.login, owner: self, newestOnly: true) { owner, id in owner.badge = id }
    center.observe(.logout, owner: self) { owner, _ in owner.badge = 0 }
    center.post(.logout)
    await center.post(.logout).delivered()
    observation?.cancel()
    center.post(.login, 1)
    await center.post(.login, 2).delivered()
    if let latest = center.latest(of: .login) { badge = latest }
    center.removeLatest(of: .login)
    for await id in center.messages(of: .login) { badge += id }
  }

  func load(_ id: Int) async { badge = id }
}

actor Store {
  private var ids: [Int] = []

  func observe(_ center: MulticastCenter) async {
    center.observe(.login, owner: self) { _, id in self.ids.append(id) }
    center.observe(.login, owner: self, id: 1) { (store: isolated Store, id) in
      store.ids.append(id)
    }
    center.post(.login, 1)
    for await id in center.messages(of: .login, buffering: .bufferingNewest(1)) { ids.append(id) }
  }

  func add(_ id: Int) { ids.append(id) }

  nonisolated func observeFromOutside(_ center: MulticastCenter) {
    center.observe(.login, owner: self) { (store: isolated Store, id) in
      store.ids.append(id)
      store.add(id)
    }
    center.observe(.login, owner: self, id: 1, once: true) { (store: isolated Store, id: Int) in
      store.add(id)
    }
    center.observe(.login, owner: self) { store, id in await store.add(id) }
    center.observe(.login, owner: self) { _, id in print(id) }
  }
}

@MainActor func observe(_ store: Store, _ center: MulticastCenter) {
  center.observe(.login, owner: store) { (store: isolated Store, id) in store.add(id) }
}

nonisolated final class Audit: Sendable {
  func observe(_ center: MulticastCenter, queue: DispatchQueue) async -> Int? {
    center.observe(.login, owner: self) { audit, id in audit.write(id) }
    center.observe(.login, owner: self, on: queue) { audit, id in audit.write(id) }
    center.observe(Topic<(id: Int, name: String)>(), owner: self) { audit, message in
      audit.write(message.id)
    }
    center.removeHandlers(of: .login, owner: self)
    center.removeHandlers(of: .login)
    center.post(.login, 7)
    await center.post(.login, 2).delivered()
    return center.removeLatest(of: .login)
  }

  func write(_ id: Int) {}
}
