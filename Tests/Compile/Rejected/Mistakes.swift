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
  center.post(.login) { UserLogin(id: 1) }  // expected-error {{is posted with its message}}
  center.post(.login)  // expected-error {{missing argument for parameter #2 in call}}
}

nonisolated func bodiesThatAwait(
  _ center: MulticastCenter, _ delegates: MulticastDelegate<any UserProtocol>
) async {
  center.post(UserProtocol.self) { await $0.sync() }  // expected-error {{with postAwaiting.}}
  delegates.post { await $0.sync() }  // expected-error {{is posted with postAwaiting.}}
  // expected-error@+1 {{A body that awaits is posted with postAwaitingAndWait.}}
  await center.postAndWait(UserProtocol.self) { await $0.sync() }
  // expected-error@+1 {{A body that awaits is posted with postAwaitingAndWait.}}
  await delegates.postAndWait { await $0.sync() }
}

// A method that is not there. Of `post` the compiler believes that a topic is meant.
nonisolated func misspelled(_ center: MulticastCenter) async {
  center.notify(UserProtocol.self) { $0.logon(1) }  // expected-error {{has no member 'logon'}}
  center.postOnMain(UserProtocol.self) { $0.logon(1) }  // expected-error {{has no member 'logon'}}
  // expected-error@+1 {{cannot convert value of type '(any UserProtocol).Type' to expected}}
  center.post(UserProtocol.self) { $0.logon(1) }
  center.postAwaiting(UserProtocol.self) { await $0.logon(1) }  // expected-error {{no member}}
}
