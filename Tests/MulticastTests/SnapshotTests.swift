import Multicast
import TestSupport
import Testing

/// Rules 4, 5 and 6 of the contract: a notify calls the clients that were in the list when it began,
/// except those removed or released before their turn, and clients may do anything during their calls.
@Suite struct SnapshotTests {
  typealias List = MulticastDelegate<any PingProtocol>

  let journal = Journal()
  let delegate = List()

  /// An operation that the middle one of three clients performs in its call, and the clients called by this notify and the next one.
  private static let cases: [(does: @Sendable (List, [Client]) -> Void, called: String)] = [
    ({ $0.remove($1[1]) }, "a b c | a c"),
    ({ $0.remove($1[0]) }, "a b c | b c"),
    ({ $0.remove($1[2]) }, "a b | a b"),
    ({ list, _ in list.removeAll() }, "a b |"),
    ({ list, clients in clients[3...].forEach { list.add($0) } }, "a b c | a b c d e f"),
    (
      { list, clients in
        list.remove(clients[2])
        list.add(clients[2])
      }, "a b | a b c"
    ),
    (
      { list, clients in
        list.removeAll()
        for client in clients[..<3].reversed() { list.add(client) }
      }, "a b | c b a"
    ),
    // Short-lived clients make the list reclaim and replace its storage during the notify.
    (
      { list, clients in
        for _ in 0..<1000 { list.add(Counter()) }
        list.remove(clients[2])
        for _ in 0..<1000 { list.add(Counter()) }
      }, "a b | a b"
    ),
    (
      { list, _ in
        for _ in 0..<1000 { list.add(Counter()) }
        list.removeAll()
      }, "a b |"
    ),
    // A nested notify has a snapshot of its own.
    (
      { list, clients in
        clients[1].onPing = nil
        list.remove(clients[0])
        list.add(clients[3])
        list.notify { $0.ping(2) }
      }, "a b b c d c | b c d"
    ),
  ]

  @Test(arguments: cases.indices) func aClientCanChangeTheListInItsCall(number: Int) {
    let (does, called) = Self.cases[number]
    let clients = kept("abcdef".map { Client(String($0), journal) })
    for client in clients[..<3] { delegate.add(client) }
    clients[1].onPing = { [delegate] _ in does(delegate, clients) }
    delegate.notify { $0.ping(1) }
    clients[1].onPing = nil
    journal.write("|")
    delegate.notify { $0.ping(2) }
    #expect(journal.read() == called)
  }

  @Test func clientsAddedDuringANotifyWaitForTheNextOne() {
    let late = kept((0..<2000).map { _ in Counter() })
    let clients = kept(addClients("ab", to: delegate, journal))
    clients[0].onPing = { [delegate] _ in for client in late { delegate.add(client) } }
    #expect(delegate.notify { $0.ping(1) } == 2)
    #expect(late.allSatisfy { $0.calls == 0 })
    #expect(delegate.notify { $0.ping(1) } == 2002)
  }

  @Test func aClientReleasedBeforeItsTurnIsNotCalled() {
    var clients = addClients("abc", to: delegate, journal)
    weak var first: Client?
    first = clients[0]
    clients[0].onPing = { _ in clients.removeLast() }
    clients[1].onPing = { [journal] _ in
      clients.removeFirst()
      journal.write(first == nil ? "gone" : "alive")
    }
    #expect(delegate.notify { $0.ping(1) } == 2)
    #expect(journal.read() == "a b gone")
  }

  @Test func aClientCanReleaseItselfInItsCall() {
    var client = Optional(Client("a", journal))
    weak var reference: Client?
    reference = client
    delegate.add(client!)
    client?.onPing = { _ in
      client = nil
      journal.write(reference == nil ? "gone" : "alive")
    }
    #expect(delegate.notify { $0.ping(1) } == 1)
    // The client is alive until its call returns, and no longer.
    #expect(journal.read() == "a alive")
    #expect(reference == nil)
    #expect(delegate.notify { $0.ping(1) } == 0)
  }

  @Test func aClientCanReleaseTheDelegateInItsCall() {
    var delegate = Optional(List())
    weak var reference: List?
    reference = delegate
    let clients = kept(addClients("ab", to: delegate!, journal))
    clients[0].onPing = { _ in delegate = nil }
    #expect(delegate?.notify { $0.ping(1) } == 2)
    #expect(journal.read() == "a b")
    #expect(reference == nil)
  }

  @Test func aClientCanReleaseTheCenterInItsCall() {
    var center = Optional(MulticastCenter())
    weak var reference: MulticastCenter?
    reference = center
    let clients = kept(addClients("ab", to: center![PingProtocol.self], journal))
    clients[0].onPing = { _ in center = nil }
    #expect(center?.notify(PingProtocol.self) { $0.ping(1) } == 2)
    #expect(journal.read() == "a b")
    #expect(reference == nil)
  }

  @Test func aClientRemovedInANestedNotifyIsNotCalledByTheOuterOne() {
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
