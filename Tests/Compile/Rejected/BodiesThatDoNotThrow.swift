import Multicast

// A body that does not throw and does not await needs no word about it, and none is welcome.

protocol UserProtocol {
  func login()
}

func synchronous(center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>) throws {
  // expected-warning@+1 {{no calls to throwing functions occur within 'try' expression}}
  try center.notify(UserProtocol.self) { $0.login() }
  // expected-warning@+1 {{no calls to throwing functions occur within 'try' expression}}
  try delegates.notify { $0.login() }
  // expected-warning@+1 {{no calls to throwing functions occur within 'try' expression}}
  try center.notify(UserProtocol.self, forEach: [1]) { client, _ in client.login() }
}

func asynchronous(
  center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>
) async {
  // expected-warning@+1 {{no 'async' operations occur within 'await' expression}}
  await center.notify(UserProtocol.self) { $0.login() }
  // expected-warning@+1 {{no 'async' operations occur within 'await' expression}}
  await delegates.notify { $0.login() }
}
