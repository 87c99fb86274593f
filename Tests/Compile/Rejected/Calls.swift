import Multicast

// The compiler checks the method, its arguments and its result, which a notification's name and
// dictionary cannot offer.

protocol UserProtocol {
  var title: String { get set }
  mutating func clear()
  func login(_ userID: Int)
}

func calls(center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>) {
  center.notify(UserProtocol.self) { $0.logout() }  // expected-error {{has no member 'logout'}}
  // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'Int'}}
  center.notify(UserProtocol.self) { $0.login("one") }
  delegates.notify { $0.login() }  // expected-error {{missing argument for parameter #1 in call}}
  // expected-error@+1 {{cannot convert value of type '()' to closure result type 'Bool'}}
  let answers: [Bool] = center.map(UserProtocol.self) { $0.login(1) }
  print(answers)
}

// The body takes the element type of the events.
func batches(center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>) {
  // expected-error@+1 {{cannot convert value of type 'String' to expected element type 'Int'}}
  center[UserProtocol.self].notify(forEach: ["one"]) { client, id in client.login(id) }
  // expected-error@+1 {{requires that 'Int' conform to 'Collection'}}
  center[UserProtocol.self].notify(forEach: 1) { client, id in client.login(id) }
  // expected-error@+1 {{expects 2 arguments, but 1 was used in closure body}}
  center[UserProtocol.self].notify(forEach: [1]) { client in client.login(1) }
}

// Without `AnyObject`, the compiler treats a client as a value that the body does not own.
func assignments(center: MulticastCenter) {
  // expected-error@+1 {{cannot assign to property: '$0' is immutable}}
  center.notify(UserProtocol.self) { $0.title = "ready" }
  center.notify(UserProtocol.self) { $0.clear() }  // expected-error {{cannot use mutating member}}
}

// A wrapper can pass a `StaticString` on. A `String` created at run time is rejected.
func callSites(center: MulticastCenter, file: String) {
  // expected-error@+1 {{value of type 'String' to expected argument type 'StaticString'}}
  center.notify(UserProtocol.self, fileID: file) { $0.login(1) }
}

// Typical mistakes of a newcomer: each message says what to write instead.

nonisolated struct UserLogin: Sendable {
  let id: Int
}

nonisolated extension Topic where Message == UserLogin {
  static var login: Self { Topic("login") }
}

nonisolated protocol LoginProtocol: Sendable {
  func login(_ id: Int)
  func sync() async
}

nonisolated func topics(_ center: MulticastCenter) {
  center.notify(.login, UserLogin(id: 1))  // expected-error {{A topic has only post}}
  center.post(.login) { print($0) }  // expected-error {{A topic is posted with its message}}
}

// Misspelled methods. For `post`, the compiler tries the overload for topics.
nonisolated func misspelled(_ center: MulticastCenter) async {
  center.notify(LoginProtocol.self) { $0.logon(1) }  // expected-error {{has no member 'logon'}}
  center.postOnMain(LoginProtocol.self) { $0.logon(1) }  // expected-error {{has no member 'logon'}}
  // expected-error@+1 {{cannot convert value of type '(any LoginProtocol).Type' to expected}}
  center.post(LoginProtocol.self) { $0.logon(1) }
  center.post(LoginProtocol.self, awaiting: { await $0.logon(1) })  // expected-error {{no member}}
}

nonisolated func methodsOfTheDelegate(_ center: MulticastCenter) {
  // expected-error@+1 {{Write: center[P.self].clients}}
  print(center.clients(for: LoginProtocol.self).count)
  // expected-error@+1 {{Write: center[P.self].notify(forEach: events) { … }}}
  center.notify(LoginProtocol.self, forEach: [1, 2]) { client, id in client.login(id) }
}
