import Multicast

// Closures and methods that do not take their owner. The message says what to write instead.

nonisolated extension Topic where Message == Int {
  static var login: Self { Topic("login") }
}

@MainActor final class Screen {
  var sum = 0

  func add(_ number: Int) { sum += number }

  func observe(_ center: MulticastCenter) {
    center.observe(.login, owner: self, add)  // expected-error {{Name the method with its class}}
    // expected-error@+1 {{Name the method with its class}}
    center.observe(.login, owner: self, id: "sum", newestOnly: true, self.add)
    // expected-error@+1 {{or take the owner: { me, it in … }}}
    center.observe(.login, owner: self) { number in print(number) }
    center.observe(.login, owner: self) { self.sum += $0 }  // expected-error {{or take the owner}}
    // expected-error@+1 {{or take the owner: { me, it in … }}}
    center.observe(.login, owner: self, once: true) { number in
      let double = number * 2
      self.add(double)
    }
    center.observe(Topic<Void>(), owner: self) { print() }  // expected-error {{Name the method}}
  }

  // A closure on a queue is in no actor, even if the queue is the main queue.
  func queue(_ center: MulticastCenter) {
    center.observe(.login, owner: self, on: .main) { me, number in
      // expected-error@+1 {{from a Sendable closure}}
      me.sum += number
    }
  }

  // If nil were allowed, an owner that is deallocated by then would remove the handlers of all others.
  func remove(_ center: MulticastCenter, _ screen: Screen?) {
    // expected-error@+1 {{argument type 'Screen?' expected to be an instance}}
    center.removeHandlers(of: .login, owner: screen)
  }

  // In a handler of the right form, the compiler still names another mistake.
  func mistake(_ center: MulticastCenter) {
    center.observe(.login, owner: self, Screen.ad)  // expected-error {{has no member 'ad'}}
    // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'Int'}}
    center.observe(.login, owner: self) { me, number in me.add("\(number)") }
    center.observe(.login, owner: self) { me, number in
      let double = numbr * 2  // expected-error {{cannot find 'numbr' in scope}}
      me.add(double)
    }
  }
}

nonisolated final class Log: Sendable {
  func write(_ number: Int) {}

  func observe(_ center: MulticastCenter) {
    center.observe(.login, owner: self, write)  // expected-error {{Name the method with its class}}
    center.observe(.login, owner: self) { self.write($0) }  // expected-error {{or take the owner}}
  }
}

// Methods that cannot be named with their class, or that capture `self`.

actor Store {
  func add(_ number: Int) {}
  func observe(_ center: MulticastCenter) {
    // expected-error@+1 {{call to actor-isolated instance method 'add'}}
    center.observe(.login, owner: self, Store.add)  // expected-error {{An actor takes a closure}}
    // expected-error@+2 {{An actor takes a closure}}
    // expected-error@+1 {{call to actor-isolated instance method 'add'}}
    center.observe(.login, owner: self, id: 1, newestOnly: true, Store.add)
  }

  func observeAwaiting(_ center: MulticastCenter) {
    // expected-error@+1 {{A handler that awaits does not take its owner isolated}}
    center.observe(.login, owner: self) { (me: isolated Store, number) in
      await Task.yield()
      me.add(number)
    }
    center.observe(.login, owner: self) { (me: isolated Store, number) in
      me.ad(number)  // expected-error {{has no member 'ad'}}
    }
  }
}

@MainActor final class Label {
  func show(_ number: Int) {}
  func load(_ number: Int) async {}
  func logout() {}
  func observe(_ center: MulticastCenter) {
    // expected-error@+1 {{Name the method with its class}}
    center.observe(.login, owner: self, self.show)
    // expected-error@+1 {{A handler that awaits is a closure: { me, it in await me.f(it) }}}
    center.observe(.login, owner: self, Label.load)
    // expected-error@+1 {{A handler of a Topic<Void> is a closure: { me, _ in me.logout() }}}
    center.observe(Topic<Void>(), owner: self, Label.logout)
  }
}

nonisolated final class Client {
  func login() {}
}

// A closure that returns a method may be called on every thread that posts.
nonisolated func observe(_ topic: Topic<Int>, _ log: Log, in center: MulticastCenter) {
  let client = Client()
  // expected-mode6-error@+2 {{capture of 'client' with non-Sendable type 'Client' in a '@Sendable'}}
  // expected-mode6-error@+1 {{capture of 'client' with non-Sendable type 'Client' in an isolated closure}}
  center.observe(topic, owner: log) { _ in { _ in client.login() } }
}
