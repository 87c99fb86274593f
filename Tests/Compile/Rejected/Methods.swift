import Multicast

// Methods that cannot be named with their class, or capture.

nonisolated extension Topic where Message == Int {
  static var login: Self { Topic("login") }
}

actor Store {
  func add(_ number: Int) {}
  func observe(_ center: MulticastCenter) {
    // expected-error@+1 {{call to actor-isolated instance method 'add'}}
    center.observe(.login, owner: self, Store.add)  // expected-error {{An actor takes a closure}}
    // expected-error@+2 {{An actor takes a closure}}
    // expected-error@+1 {{call to actor-isolated instance method 'add'}}
    center.observe(.login, owner: self, id: 1, newestOnly: true, Store.add)
  }
}

@MainActor final class Screen {
  func show(_ number: Int) {}
  func logout() {}
  func observe(_ center: MulticastCenter) {
    // expected-error@+1 {{Name the method with its class}}
    center.observe(.login, owner: self, self.show)
    // expected-error@+1 {{A handler of a Topic<Void> is a closure: { me, _ in me.logout() }}}
    center.observe(Topic<Void>(), owner: self, Screen.logout)
  }
}

nonisolated final class Client {
  func login() {}
}

nonisolated final class Log: Sendable {}

// What returns a method may be called on every thread that posts.
nonisolated func observe(_ topic: Topic<Int>, _ log: Log, in center: MulticastCenter) {
  let client = Client()
  // expected-mode6-error@+2 {{capture of 'client' with non-Sendable type 'Client' in a '@Sendable'}}
  // expected-mode6-error@+1 {{capture of 'client' with non-Sendable type 'Client' in an isolated closure}}
  center.observe(topic, owner: log) { _ in { _ in client.login() } }
}
