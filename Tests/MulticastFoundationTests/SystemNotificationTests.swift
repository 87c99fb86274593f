import TestSupport
import Foundation
import Multicast
import MulticastFoundation
import Testing

/// A notification that Foundation itself posts.
@Suite struct SystemNotificationTests {
  let journal = Journal()
  let center = MulticastCenter()

  /// A port, whose end Foundation tells in the default center.
  ///
  /// Not `Port()`: on Apple's platforms this is a Mach port, which allows no weak references.
  private func makePort() -> Port? { SocketPort(tcpPort: 0) }

  @Test func itCallsClients() throws {
    center.adding(Client("ended", journal))
    let (port, other) = (try #require(makePort()), try #require(makePort()))
    center.relay(Port.didBecomeInvalidNotification, object: port, to: PowerProtocol.self) {
      client in client.powerChanged(0)
    }
    other.invalidate()
    #expect(journal.read() == "")
    port.invalidate()
    #expect(journal.read() == "ended0")
  }

  @Test func itComesInAsAMessageAndLeavesAsAnotherNotification() throws {
    let target = NotificationCenter()
    let observer = target.addObserver(forName: .power, object: nil, queue: nil) { notification in
      journal.write("\(notification.level ?? -1)")
    }
    let port = try #require(makePort())
    center.relay(Port.didBecomeInvalidNotification, object: port, to: .power) { notification in
      notification.object is Port ? Power(level: 7) : nil
    }
    center.forward(.power, to: target, as: .power) { ["level": $0.level] }
    port.invalidate()
    #expect(journal.read() == "7")
    target.removeObserver(observer)
  }
}
