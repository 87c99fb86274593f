// only: 6-* (in mode 5 some of these are warnings)
import Foundation
import Multicast
import MulticastFoundation

// A notification comes on any thread, and what it leads to has to be able to.

@MainActor protocol ScreenProtocol {
  func show()
}

nonisolated final class Mutable {
  var number = 0
}

nonisolated func bridge(_ center: MulticastCenter, _ name: Notification.Name) {
  center.relay(name, to: ScreenProtocol.self) { client in
    // expected-error@+1 {{call to main actor-isolated instance method 'show()' in a synchronous nonisolated context}}
    client.show()
  }
  // A notification stays on its thread.
  // expected-error@+1 {{conformance of 'Notification' to 'Sendable' is unavailable}}
  center.relay(name, to: ScreenProtocol.self, map: { $0 }) { @MainActor client, _ in client.show() }
  let mutable = Mutable()
  center.relay(name, to: Topic<Int>()) { _ in
    // expected-error@+1 {{capture of 'mutable' with non-Sendable type 'Mutable' in a '@Sendable' closure}}
    mutable.number
  }
  // expected-error@+1 {{type 'Mutable' does not conform to the 'Sendable' protocol}}
  center.forward(Topic<Int>(), as: name, object: Mutable())
  // expected-error@+1 {{cannot convert value of type '@Sendable (Notification) -> String?'}}
  center.relay(name, to: Topic<Int>()) { $0.userInfo?["text"] as? String }
}
