import Multicast

// What a newcomer writes: see README.md in Tests/Compile. The message names the way out.

nonisolated struct UserLogin: Sendable {
  let id: Int
}

nonisolated extension Topic where Message == UserLogin {
  static var login: Self { Topic("login") }
}

nonisolated protocol UserProtocol: Sendable {
  func login(_ id: Int)
  func sync() async
}

nonisolated func topics(_ center: MulticastCenter) {
  center.notify(.login, UserLogin(id: 1))  // expected-error {{A topic has only post}}
  center.post(.login) { print($0) }  // expected-error {{A topic is posted with its message}}
}

// A method that is not there. Of `post` the compiler believes that a topic is meant.
nonisolated func misspelled(_ center: MulticastCenter) async {
  center.notify(UserProtocol.self) { $0.logon(1) }  // expected-error {{has no member 'logon'}}
  center.postOnMain(UserProtocol.self) { $0.logon(1) }  // expected-error {{has no member 'logon'}}
  // expected-error@+1 {{cannot convert value of type '(any UserProtocol).Type' to expected}}
  center.post(UserProtocol.self) { $0.logon(1) }
  center.post(UserProtocol.self, awaiting: { await $0.logon(1) })  // expected-error {{no member}}
}

@MainActor protocol ScreenProtocol {
  func show(_ id: Int)
}

nonisolated func methodsOfTheDelegate(_ center: MulticastCenter) {
  // expected-error@+1 {{Write: center[P.self].clients}}
  print(center.clients(for: UserProtocol.self).count)
  // expected-error@+1 {{Write: center[P.self].notify(forEach: events) { … }}}
  center.notify(UserProtocol.self, forEach: [1, 2]) { client, id in client.login(id) }
}
