import Multicast

// A caller may ignore what a post returns, and can await it once, in asynchronous code only.

nonisolated protocol UserProtocol: Sendable {
  func login(_ id: Int)
}

nonisolated func twice(_ center: MulticastCenter) async {
  let posted = center.post(UserProtocol.self) { $0.login(1) }  // expected-error {{consumed more}}
  await posted.delivered()  // expected-note {{consumed here}}
  await posted.delivered()  // expected-note {{consumed again here}}
}
