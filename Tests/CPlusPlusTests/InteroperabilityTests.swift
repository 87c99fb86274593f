import Multicast
import MulticastPlatform
import Testing

private protocol PingProtocol: Sendable {
  func ping(_ number: Int)
}

private final class Client: PingProtocol {
  static let topic = Topic<Int>("calls", keepsLatest: true)
  let calls = MulticastCenter()
  func ping(_ number: Int) { calls.post(Self.topic, number) }
}

/// In a target with C++ interoperability, Swift reads the headers of the package as C++.
@Suite struct InteroperabilityTests {
  @Test func aTargetWithCPlusPlusCallsItsClients() {
    let (center, client) = (MulticastCenter(), Client())
    center.add(client, for: PingProtocol.self)
    #expect(center.notify(PingProtocol.self) { $0.ping(1) } == 1)
    center.post(PingProtocol.self) { $0.ping(2) }
    #expect(client.calls.latest(of: Client.topic) == 2)
  }

  /// An optimized build inlines functions into its callers, which then refer to these C functions and variables.
  @Test func aTargetWithCPlusPlusLinksThePlatformFunctions() {
    var lock = multicast_lock()
    multicast_acquire(&lock)
    multicast_release(&lock)
    #expect(multicast_now() > 0)
    // Other tests may count calls of theirs at the same time.
    multicast_count_awaiting(1)
    #expect(multicast_awaits_anywhere())
    multicast_count_awaiting(-1)
    #expect(multicast_thread_slot().pointee == nil)
  }
}
