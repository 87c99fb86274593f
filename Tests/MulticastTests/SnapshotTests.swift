import TestSupport
import Multicast
import Testing

/// Rules 4, 5 and 6 of the contract: a notify calls the clients that stood in the list when it began,
/// less those removed or released before their turn, and callbacks may do anything.
@Suite struct SnapshotTests {
  let journal = Journal()
  let delegate = MulticastDelegate<any PingProtocol>()

  /// Notifies three clients, of which the middle one does something in its call, and then those that are
  /// left once more.
  func notifyTwice(_ inTheMiddle: (_ clients: [Client]) -> Void) -> String {
    let clients = addClients("abc", to: delegate, journal)
    defer { extendLifetime(clients) }
    withoutActuallyEscaping(inTheMiddle) { inTheMiddle in
      clients[1].onPing = { _ in inTheMiddle(clients) }
      delegate.notify { $0.ping(1) }
      clients[1].onPing = nil
    }
    journal.write("|")
    delegate.notify { $0.ping(2) }
    return journal.read()
  }

  @Test func aClientRemovesItself() {
    #expect(notifyTwice { delegate.remove($0[1]) } == "a b c | a c")
  }

  @Test func aClientRemovesTheOneBefore() {
    #expect(notifyTwice { delegate.remove($0[0]) } == "a b c | b c")
  }

  @Test func aClientRemovesTheOneBehind() {
    #expect(notifyTwice { delegate.remove($0[2]) } == "a b | a b")
  }

  @Test func aClientRemovesEverybody() {
    #expect(notifyTwice { _ in delegate.removeAll() } == "a b |")
  }

  @Test func aClientAddedMeanwhileWaits() {
    let late = kept(Client("d", journal))
    #expect(notifyTwice { _ in delegate.add(late) } == "a b c | a b c d")
  }

  @Test func aClientRemovedAndAddedAgainWaits() {
    #expect(
      notifyTwice { clients in
        delegate.remove(clients[2])
        delegate.add(clients[2])
      } == "a b | a b c")
  }

  @Test func aClientRemovesEverybodyAndAddsThemAgain() {
    #expect(
      notifyTwice { clients in
        delegate.removeAll()
        for client in clients.reversed() { delegate.add(client) }
      } == "a b | c b a")
  }

  @Test func manyAddedMeanwhileWait() {
    let late = kept((0..<2000).map { _ in Counter() })
    #expect(notifyTwice { _ in for client in late { delegate.add(client) } } == "a b c | a b c")
    #expect(late.allSatisfy { $0.calls == 1 })
  }

  @Test func aRemovalIsSeenAfterTheListHasGrownAndBeenCompactedMeanwhile() {
    // Short-lived clients make the list reclaim and replace its storage during the notify.
    #expect(
      notifyTwice { clients in
        for _ in 0..<1000 { delegate.add(Counter()) }
        delegate.remove(clients[2])
        for _ in 0..<1000 { delegate.add(Counter()) }
      } == "a b | a b")
    #expect(
      notifyTwice { clients in
        for _ in 0..<1000 { delegate.add(Counter()) }
        delegate.removeAll()
      } == "a b |")
  }

  @Test func aClientReleasedBeforeItsTurnIsNotCalled() {
    var clients = addClients("abc", to: delegate, journal)
    clients[0].onPing = { _ in clients.removeLast() }
    #expect(delegate.notify { $0.ping(1) } == 2)
    #expect(journal.read() == "a b")
    clients[0].onPing = nil
  }

  @Test func aClientReleasesItself() {
    var client = Optional(Client("a", journal))
    weak var reference: Client?
    reference = client
    delegate.add(client!)
    client?.onPing = { _ in
      client = nil
      journal.write(reference == nil ? "gone" : "alive")
    }
    #expect(delegate.notify { $0.ping(1) } == 1)
    // Alive for the length of its own call, and no longer.
    #expect(journal.read() == "a alive")
    #expect(reference == nil)
    #expect(delegate.notify { $0.ping(1) } == 0)
  }

  @Test func aClientIsReleasedBeforeTheNextOneIsCalled() {
    var clients = addClients("ab", to: delegate, journal)
    weak var first: Client?
    first = clients[0]
    clients[0].onPing = { _ in clients.removeFirst() }
    clients[1].onPing = { [journal] _ in journal.write(first == nil ? "gone" : "alive") }
    delegate.notify { $0.ping(1) }
    #expect(journal.read() == "a b gone")
  }

  @Test func theDelegateIsReleasedDuringItsNotify() {
    var delegate = Optional(MulticastDelegate<any PingProtocol>())
    weak var reference: MulticastDelegate<any PingProtocol>?
    reference = delegate
    let clients = kept(addClients("ab", to: delegate!, journal))
    clients[0].onPing = { _ in delegate = nil }
    #expect(delegate?.notify { $0.ping(1) } == 2)
    #expect(journal.read() == "a b")
    #expect(reference == nil)
  }

  @Test func theCenterIsReleasedDuringItsNotify() {
    var center = Optional(MulticastCenter())
    weak var reference: MulticastCenter?
    reference = center
    let clients = kept(addClients("ab", to: center![PingProtocol.self], journal))
    clients[0].onPing = { _ in center = nil }
    #expect(center?.notify(PingProtocol.self) { $0.ping(1) } == 2)
    #expect(journal.read() == "a b")
    #expect(reference == nil)
  }

  @Test func aNestedNotifyHasASnapshotOfItsOwn() {
    let late = kept(Client("d", journal))
    let order = notifyTwice { clients in
      clients[1].onPing = nil
      delegate.remove(clients[0])
      delegate.add(late)
      journal.write("(")
      delegate.notify { $0.ping(2) }
      journal.write(")")
    }
    #expect(order == "a b ( b c d ) c | b c d")
  }

  @Test func aNestedNotifyRemovesWhatTheOuterOneHasBeforeIt() {
    let clients = kept(addClients("abc", to: delegate, journal))
    clients[0].onPing = { number in
      guard number == 1 else { return }
      delegate.notify { $0.ping(2) }
    }
    clients[2].onPing = { number in
      if number == 2 { delegate.remove(clients[2]) }
    }
    #expect(delegate.notify { $0.ping(1) } == 2)
    #expect(journal.read() == "a a b c b")
  }
}
