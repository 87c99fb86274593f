// only: 6-* (in mode 5 some of these are warnings)
import Foundation
import Multicast
import MulticastFoundation

// An asynchronous message comes on any thread, and one of the main actor stays there.

@MainActor protocol ScreenProtocol {
  func show()
}

@globalActor actor OtherActor {
  static let shared = OtherActor()
}

@OtherActor protocol OtherProtocol {
  func show()
}

nonisolated final class Meter {}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
nonisolated struct Shown: NotificationCenter.MainActorMessage {
  typealias Subject = Meter
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
nonisolated struct Changed: NotificationCenter.AsyncMessage {
  typealias Subject = Meter
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
nonisolated func bridge(_ center: MulticastCenter) {
  center.relay(Changed.self, to: ScreenProtocol.self) { client, _ in
    // expected-error@+1 {{call to main actor-isolated instance method 'show()' in a synchronous nonisolated context}}
    client.show()
  }
  center.relay(Shown.self, to: OtherProtocol.self) { client, _ in
    // expected-error@+1 {{call to global actor 'OtherActor'-isolated instance method 'show()' in a synchronous main actor-isolated context}}
    client.show()
  }
  // expected-error@+1 {{type 'Changed.Subject' (aka 'Meter') does not conform to the 'Sendable' protocol}}
  center.forward(Topic<Int>(), as: Changed.self, subject: Meter()) { _ in Changed() }
}
