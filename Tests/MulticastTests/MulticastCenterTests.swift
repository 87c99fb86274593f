import TestSupport
import Multicast
import Testing

/// A center finds the list of each protocol, and passes everything on to it.
@Suite struct MulticastCenterTests {
  let journal = Journal()
  let center = MulticastCenter()

  @Test func centerAndSubscriptAreTheSameList() {
    let client = kept(Client("a", journal))
    #expect(center[PingProtocol.self] === center[PingProtocol.self])
    #expect(center.add(client, for: PingProtocol.self))
    #expect(!center[PingProtocol.self].add(client))
    #expect(center.notify(PingProtocol.self) { $0.ping(1) } == 1)
    #expect(center[PingProtocol.self].notify { $0.ping(1) } == 1)
    #expect(journal.read() == "a a")
    #expect(center[PingProtocol.self].remove(client))
    #expect(!center.contains(client, for: PingProtocol.self))
  }

  @Test func protocolsAndCentersDoNotMix() {
    let both = kept(Both(journal))
    center.add(both, for: PingProtocol.self)
    center.notify(PongProtocol.self) { $0.pong(1) }
    #expect(journal.read() == "")
    center.add(both, for: PongProtocol.self)
    center.notify(PongProtocol.self) { $0.pong(1) }
    #expect(journal.read() == "pong1")
    center.remove(both, for: PingProtocol.self)
    #expect(center.contains(both, for: PongProtocol.self))
    center.add(both, for: PingProtocol.self)
    center.removeAll(for: PingProtocol.self)
    #expect(!center.contains(both, for: PingProtocol.self))
    #expect(center.contains(both, for: PongProtocol.self))
    #expect(MulticastCenter().notify(PongProtocol.self) { $0.pong(1) } == 0)
    #expect(MulticastCenter()[PongProtocol.self] !== center[PongProtocol.self])
  }

  @Test func aProtocolThatNobodyWasAddedForIsEmpty() async {
    let client = kept(Client("a", journal))
    #expect(center.notify(PingProtocol.self) { $0.ping(1) } == 0)
    #expect(center[PingProtocol.self].notify(forEach: [1, 2]) { $0.ping($1) } == 0)
    #expect(center.map(PingProtocol.self) { _ in 1 } == [])
    #expect(await center.notify(PingProtocol.self, awaiting: { $0.ping(1) }) == 0)
    #expect(!center.remove(client, for: PingProtocol.self))
    #expect(center.remove(client) == 0)
    #expect(!center.contains(client, for: PingProtocol.self))
    #expect(center[PingProtocol.self].clients.isEmpty)
    center.removeAll(for: PingProtocol.self)
    center.removeAll()
  }

  @Test func anObjectIsRemovedFromEverything() {
    let both = kept(Both(journal))
    let other = kept(Both(journal))
    center.add(both, for: PingProtocol.self)
    center.add(both, for: PongProtocol.self)
    center.add(other, for: PongProtocol.self)
    #expect(center.remove(both) == 2)
    #expect(center.remove(both) == 0)
    #expect(center[PingProtocol.self].clients.isEmpty)
    #expect(center[PongProtocol.self].clients.count == 1)
    center.add(both, for: PingProtocol.self)
    center.removeAll()
    #expect(center.remove(both) == 0)
    #expect(center.remove(other) == 0)
  }

  @Test func aDelegateOutlivesItsCenter() {
    var center = Optional(MulticastCenter())
    let delegate = center![PingProtocol.self]
    center = nil
    let client = kept(Client("a", journal))
    #expect(delegate.add(client))
    #expect(delegate.notify { $0.ping(1) } == 1)
  }

  @Test func thereIsADefaultCenter() {
    final class Local: PingProtocol { func ping(_ number: Int) {} }
    let client = kept(Local())
    #expect(MulticastCenter.default.add(client, for: Local.self))
    #expect(MulticastCenter.default.contains(client, for: Local.self))
  }
}
