import Multicast
import TestSupport
import Testing

/// Rule 7 of the contract, and the part of rule 2 that speaks of a dead client's address.
@Suite struct DeinitTests {
  let journal = Journal()
  let center = MulticastCenter()

  /// A client that does something in its `deinit`.
  final class Dying: PingProtocol {
    let atEnd: (Dying) -> Void
    init(_ atEnd: @escaping (Dying) -> Void) { self.atEnd = atEnd }
    deinit { atEnd(self) }
    func ping(_ number: Int) {}
  }

  @Test(arguments: [true, false]) func theListMayBeUsedInADeinit(wasAdded: Bool) {
    center.adding(Client("other", journal))
    do {
      let dying = Dying { [center, journal] client in
        // A client in its `deinit` is no longer registered: weak references to it are gone.
        journal.write("\(center.remove(client, for: PingProtocol.self))")
        journal.write("\(center.remove(client))")
        journal.write("\(center.contains(client, for: PingProtocol.self))")
        journal.write("\(center.add(client, for: PingProtocol.self))")
        center.notify(PingProtocol.self) { $0.ping(1) }
      }
      if wasAdded { center.add(dying, for: PingProtocol.self) }
      extendLifetime(dying)
    }
    #expect(journal.read() == "false 0 false false other")
    #expect(center[PingProtocol.self].clients.count == 1)
    #expect(center.notify(PingProtocol.self) { $0.ping(1) } == 1)
  }

  @Test func aDeinitDuringANotifyMayUseTheList() {
    let first = kept(Client("first", journal))
    let last = kept(Client("last", journal))
    var dying = Optional(
      Dying { [center] _ in
        center.add(last, for: PingProtocol.self)
        center.remove(first, for: PingProtocol.self)
        center.notify(PingProtocol.self) { $0.ping(2) }
      })
    first.onPing = { _ in dying = nil }
    center.add(first, for: PingProtocol.self)
    center.add(dying!, for: PingProtocol.self)
    #expect(center.notify(PingProtocol.self) { $0.ping(1) } == 1)
    #expect(journal.read() == "first last")
  }

  @Test func theListMayBeUsedWhenItHoldsAClientsLastReference() {
    // The clients end while the list looks whether they are alive, to make room for more.
    let list = center[PingProtocol.self]
    var alive: [Dying] = []
    for number in 0..<5000 {
      let client = Dying { client in
        list.remove(client)
        #expect(!list.contains(client))
      }
      alive.append(client)
      list.add(client)
      if number % 3 == 0 { alive.removeAll() }
    }
    #expect(list.count == alive.count)
  }

  @Test func aNewClientOnADeadOnesAddressIsANewClient() {
    let list = center[PingProtocol.self]
    var addresses: Set<ObjectIdentifier> = []
    let count = Process.rounds(100_000, quick: 20_000)
    for number in 0..<count {
      let client = Counter()
      defer { extendLifetime(client) }
      addresses.insert(ObjectIdentifier(client))
      // It is not the dead one that stands in the list.
      if number % 100 == 1 { #expect(!list.contains(client) && !list.remove(client)) }
      if !list.add(client) { Issue.record("client \(number) was refused") }
    }
    // Otherwise this has not tested anything. A sanitizer keeps freed memory back for a while.
    #expect(addresses.count < count / 2 || Process.isSanitized)
    #expect(list.notify { $0.ping(1) } == 0)
  }
}
