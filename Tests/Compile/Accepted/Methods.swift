// only: 5-nonisolated 5-MainActor *-approachable-* 6-* (5-complete does not see that a method captures nothing)
import Multicast

// Methods as handlers, of classes with and without an actor.

nonisolated extension Topic where Message == Int {
  static var login: Self { Topic("login", keepsLatest: true) }
}

@MainActor final class Badge {
  var count = 0

  init(_ center: MulticastCenter) {
    center.observe(.login, owner: self, Badge.add)
    center.observe(.login, owner: self, id: "quiet", once: true, Badge.ignore)
    center.observe(.login, owner: self, newestOnly: true, Badge.add).cancel()
  }

  func add(_ number: Int) { count += number }
  func load(_ number: Int) async { count += number }
  func observeAwaiting(_ center: MulticastCenter) {
    center.observe(.login, owner: self) { me, number in await me.load(number) }
    center.observe(.login, owner: self, id: "slow", once: true, newestOnly: true) { me, number in
      await me.load(number)
    }
  }
  nonisolated func ignore(_ number: Int) {}
}

@MainActor class Base {
  init() {}
  func hear(_ number: Int) {}
}

@MainActor final class Derived: Base {
  func observe(_ center: MulticastCenter) {
    center.observe(.login, owner: self, Derived.hear)
    center.observe(.login, owner: self, Base.hear)
  }
}

nonisolated final class Log: Sendable {
  func observe(_ center: MulticastCenter) { center.observe(.login, owner: self, Log.write) }
  func write(_ number: Int) {}
}

actor Store {
  nonisolated func hear(_ number: Int) {}
  func observe(_ center: MulticastCenter) { center.observe(.login, owner: self, Store.hear) }
}
