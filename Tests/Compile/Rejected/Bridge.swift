// only: 6-* (in mode 5 some of these are warnings)
import Foundation
import Multicast
import MulticastFoundation

// A notification or an asynchronous message may arrive on any thread, so a relay's closures must be
// able to run on any thread. A
// message of the main actor stays there.

@MainActor protocol ScreenProtocol {
  func show()
}

@globalActor actor OtherActor {
  static let shared = OtherActor()
}

@OtherActor protocol OtherProtocol {
  func show()
}

nonisolated final class Mutable {
  var number = 0
}

nonisolated func bridge(_ center: MulticastCenter, _ name: Notification.Name, _ mutable: Mutable) {
  center.relay(name, to: ScreenProtocol.self) { client in
    client.show()  // expected-error {{call to main actor-isolated instance method 'show()' in a}}
  }
  // A notification stays on its thread.
  // expected-error@+1 {{conformance of 'Notification' to 'Sendable' is unavailable}}
  center.relay(name, to: ScreenProtocol.self, map: { $0 }) { @MainActor client, _ in client.show() }
  // expected-error@+1 {{capture of 'mutable' with non-Sendable type 'Mutable' in a '@Sendable'}}
  center.relay(name, to: Topic<Int>()) { _ in mutable.number }
  // expected-error@+1 {{type 'Mutable' does not conform to the 'Sendable' protocol}}
  center.forward(Topic<Int>(), as: name, object: Mutable())
  // expected-error@+1 {{cannot convert value of type '@Sendable (Notification) -> String?'}}
  center.relay(name, to: Topic<Int>()) { $0.userInfo?["text"] as? String }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
nonisolated struct Shown: NotificationCenter.MainActorMessage {
  typealias Subject = Mutable
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
nonisolated struct Changed: NotificationCenter.AsyncMessage {
  typealias Subject = Mutable
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
nonisolated func bridgeMessages(_ center: MulticastCenter) {
  center.relay(Changed.self, to: ScreenProtocol.self) { client, _ in
    client.show()  // expected-error {{call to main actor-isolated instance method 'show()' in a}}
  }
  center.relay(Shown.self, to: OtherProtocol.self) { client, _ in
    client.show()  // expected-error {{in a synchronous main actor-isolated context}}
  }
  // expected-error@+1 {{type 'Changed.Subject' (aka 'Mutable') does not conform to the 'Sendable'}}
  center.forward(Topic<Int>(), as: Changed.self, subject: Mutable()) { _ in Changed() }
}
