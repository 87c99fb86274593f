import TestSupport
import Multicast
import Testing

@Suite struct BatchTests {
  let journal = Journal()
  let delegate = MulticastDelegate<any PingProtocol>()

  @Test func everyClientGetsAllEventsInOrderBeforeTheNextClient() {
    let clients = kept(addClients("ab", to: delegate, journal))
    for client in clients { client.onPing = { [journal] number in journal.write("\(number)") } }
    #expect(delegate.notify(forEach: 1...3) { $0.ping($1) } == 2)
    #expect(journal.read() == "a 1 a 2 a 3 b 1 b 2 b 3")
  }

  @Test func withoutEventsNobodyHearsAnything() {
    _ = kept(addClients("ab", to: delegate, journal))
    #expect(delegate.notify(forEach: [Int]()) { $0.ping($1) } == 2)
    #expect(journal.read() == "")
  }

  @Test(arguments: [false, true])
  func aClientRemovedInTheMiddleOfItsBatchGetsNoMore(isAddedAgain: Bool) {
    let clients = kept(addClients("ab", to: delegate, journal))
    clients[0].onPing = { number in
      guard number == 2 else { return }
      delegate.remove(clients[0])
      if isAddedAgain { delegate.add(clients[0]) }
    }
    delegate.notify(forEach: 1...3) { $0.ping($1) }
    #expect(journal.read() == "a a b b b")
  }

  @Test func aClientReleasedInTheMiddleGetsTheRest() {
    var client = Optional(Client("a", journal))
    delegate.add(client!)
    client?.onPing = { _ in client = nil }
    delegate.notify(forEach: 1...3) { $0.ping($1) }
    #expect(journal.read() == "a a a")
    #expect(delegate.isEmpty)
  }

  @Test func anErrorEndsTheBatch() {
    struct Stop: Error, Equatable { let number: Int }
    _ = kept(addClients("ab", to: delegate, journal))
    #expect(throws: Stop(number: 2)) {
      try delegate.notify(forEach: 1...3) { client, number throws(Stop) in
        client.ping(number)
        if number == 2 { throw Stop(number: number) }
      }
    }
    #expect(journal.read() == "a a")
  }
}
