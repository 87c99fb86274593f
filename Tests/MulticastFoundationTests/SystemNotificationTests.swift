import Foundation
import Multicast
import MulticastFoundation
import TestSupport
import Testing

/// A notification that Foundation itself posts.
@Suite struct SystemNotificationTests {
  let journal = Journal()
  let center = MulticastCenter()

  /// A port, whose end Foundation tells in the default center.
  ///
  /// Not `Port()`: on Apple's platforms this is a Mach port, which allows no weak references.
  private func makePort() throws -> Port { try #require(SocketPort(tcpPort: 0)) }

  @Test func itCallsClientsAndLeavesAsAnotherNotification() throws {
    center.adding(Client("ended", journal))
    let target = NotificationCenter()
    let observer = target.addObserver(forName: .power, object: nil, queue: nil) { notification in
      journal.write("\(notification.level ?? -1)")
    }
    let (port, other) = (try makePort(), try makePort())
    let name = Port.didBecomeInvalidNotification
    center.relay(name, object: port, to: PowerProtocol.self) { $0.powerChanged(0) }
    center.relay(name, object: port, to: .power) { $0.object is Port ? Power(level: 7) : nil }
    center.forward(.power, to: target, as: .power) { ["level": $0.level] }
    other.invalidate()
    #expect(journal.read() == "")
    port.invalidate()
    #expect(journal.read().split(separator: " ").sorted() == ["7", "ended0"])
    target.removeObserver(observer)
  }
}
