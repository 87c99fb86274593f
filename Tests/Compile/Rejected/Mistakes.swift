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
  center.post(.login)  // expected-error {{A topic is posted with its message}}
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

// Names of earlier versions.
nonisolated func oldNames(
  _ center: MulticastCenter, _ users: MulticastDelegate<any UserProtocol>,
  _ screens: MulticastDelegate<any ScreenProtocol>
) async {
  // expected-error@+1 {{Write: await center.post(P.self) { … }.delivered()}}
  await center.postAndWait(UserProtocol.self) { $0.login(1) }
  // expected-error@+1 {{Write: await center.post(topic, message).delivered()}}
  await center.postAndWait(.login, UserLogin(id: 1))
  // expected-error@+1 {{Write: await center.postOnMain(P.self) { … }.delivered()}}
  await center.postOnMainAndWait(ScreenProtocol.self) { $0.show(1) }
  // expected-error@+1 {{Write: center.post(P.self, awaiting: { await $0.f() })}}
  center.postAwaiting(UserProtocol.self) { await $0.sync() }
  // expected-error@+1 {{Write: await center.post(P.self, awaiting: …).delivered()}}
  await center.postAwaitingAndWait(UserProtocol.self) { await $0.sync() }
  // expected-error@+1 {{Post to a topic made with keepsLatest: true.}}
  center.post(UserProtocol.self, keeping: 1) { $0.login(1) }
  // expected-error@+1 {{Post to a topic made with keepsLatest: true.}}
  center.postOnMain(ScreenProtocol.self, keeping: "last") { $0.show(1) }
  // expected-error@+1 {{A topic made with keepsLatest: true has removeLatest(of:).}}
  center.removeKept("last", for: UserProtocol.self)
  // expected-error@+1 {{Write: center[P.self].clients}}
  print(center.clients(for: UserProtocol.self).count)
  // expected-error@+1 {{Write: center[P.self].notify(forEach: events) { … }}}
  center.notify(UserProtocol.self, forEach: [1, 2]) { client, id in client.login(id) }

  // expected-error@+1 {{Write: await delegates.post { … }.delivered()}}
  await users.postAndWait { $0.login(1) }
  // expected-error@+1 {{Write: await delegates.postOnMain { … }.delivered()}}
  await screens.postOnMainAndWait { $0.show(1) }
  // expected-error@+1 {{Write: delegates.post(awaiting: { await $0.f() })}}
  users.postAwaiting { await $0.sync() }
  // expected-error@+1 {{Write: await delegates.post(awaiting: …).delivered()}}
  await users.postAwaitingAndWait { await $0.sync() }
  // expected-error@+1 {{Post to a topic made with keepsLatest: true.}}
  users.post(keeping: 1) { $0.login(1) }
  // expected-error@+1 {{Post to a topic made with keepsLatest: true.}}
  screens.postOnMain(keeping: 1) { $0.show(1) }
  // expected-error@+1 {{A topic made with keepsLatest: true has removeLatest(of:).}}
  users.removeKept(1)
}
