import Multicast
import TestSupport
import Testing

/// Rules 1 and 2 of the contract: order, and once.
@Suite struct MembershipTests {
  let journal = Journal()
  let delegate = MulticastDelegate<any PingProtocol>()

  @Test func clientsAreCalledInTheOrderInWhichTheyWereAdded() {
    let clients = kept(addClients("abcdefgh", to: delegate, journal))
    #expect(!delegate.add(clients[0]))
    #expect(delegate.notify { $0.ping(1) } == 8)
    #expect(journal.read() == "a b c d e f g h")
    // Removed and added again, a client is last.
    #expect(delegate.remove(clients[0]))
    #expect(delegate.add(clients[0]))
    delegate.notify { $0.ping(1) }
    #expect(journal.read() == "b c d e f g h a")
  }

  @Test func orderSurvivesRemovalsAndCompaction() {
    let clients = kept((0..<1000).map { Client("\($0)", journal) })
    for client in clients { delegate.add(client) }
    for (number, client) in clients.enumerated() where number % 7 != 0 {
      #expect(delegate.remove(client))
    }
    delegate.adding(Client("late", journal))
    delegate.notify { $0.ping(1) }
    let expected = stride(from: 0, to: 1000, by: 7).map(String.init) + ["late"]
    #expect(journal.read() == expected.joined(separator: " "))
  }

  @Test func clientsAreToldApartByIdentityNotByEquality() {
    final class Same: PingProtocol, Equatable {
      static func == (one: Same, other: Same) -> Bool { true }
      func ping(_ number: Int) {}
    }
    let one = kept(Same())
    let other = kept(Same())
    #expect(delegate.add(one))
    #expect(delegate.add(other))
    #expect(delegate.count == 2)
    #expect(delegate.remove(one))
    #expect(delegate.contains(other))
    #expect(!delegate.contains(one))
  }

  @Test func aListIsEmptyBeforeTheFirstClientAndAfterTheLast() {
    let stranger = kept(Client("d", journal))
    func expectEmpty() {
      #expect(delegate.isEmpty)
      #expect(delegate.count == 0)
      #expect(delegate.clients.isEmpty)
      #expect(!delegate.contains(stranger))
      #expect(!delegate.remove(stranger))
      #expect(delegate.notify { $0.ping(1) } == 0)
    }
    expectEmpty()
    let clients = kept(addClients("abc", to: delegate, journal))
    #expect(!delegate.isEmpty)
    #expect(delegate.count == 3)
    #expect(delegate.clients.compactMap { ($0 as? Client)?.name } == ["a", "b", "c"])
    #expect(delegate.contains(clients[2]))
    delegate.removeAll()
    expectEmpty()
    #expect(delegate.add(clients[1]))
    delegate.notify { $0.ping(1) }
    #expect(journal.read() == "b")
  }

  @Test(arguments: [1, 2, 15, 16, 17, 31, 32, 33, 100, 1000, 5000])
  func everyClientOfAListIsFoundAndRemoved(count: Int) {
    let clients = kept((0..<count).map { _ in Counter() })
    for client in clients { #expect(delegate.add(client)) }
    for client in clients { #expect(!delegate.add(client)) }
    #expect(delegate.notify { $0.ping(1) } == count)
    for client in clients { #expect(delegate.contains(client)) }
    for client in clients.shuffled() { #expect(delegate.remove(client)) }
    #expect(delegate.count == 0)
    for client in clients { #expect(!delegate.contains(client) && !delegate.remove(client)) }
    for client in clients { #expect(client.calls == 1) }
  }

  /// What a removed client leaves behind must not be looked at again and again. If it were, this would
  /// take hours; it takes less than a second.
  @Test(.timeLimit(.minutes(5)))
  func aClientIsRemovedAndAddedAgainInALongList() {
    let clients = kept((0..<50_000).map { _ in Counter() })
    for client in clients { delegate.add(client) }
    for _ in 0..<Process.rounds(200_000, quick: 50_000) {
      delegate.remove(clients[7])
      delegate.add(clients[7])
      // One that follows another one on the same address.
      delegate.add(Counter())
    }
    #expect(delegate.count == clients.count)
  }
}
