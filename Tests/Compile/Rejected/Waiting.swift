import Multicast

// What a post returns may be ignored, is waited for once, and is waited for where one can await.

nonisolated protocol UserProtocol: Sendable {
  func login(_ id: Int)
}

nonisolated func twice(_ center: MulticastCenter) async {
  let posted = center.post(UserProtocol.self) { $0.login(1) }  // expected-error {{consumed more}}
  await posted.delivered()  // expected-note {{consumed here}}
  await posted.delivered()  // expected-note {{consumed again here}}
}
