import CoreModel
import TestSupport
import Testing

@testable import Multicast

/// Rules 1 and 2 of the contract: order, and once.
@Suite struct MembershipTests {
  let journal = Journal()
  let delegate = MulticastDelegate<any PingProtocol>()

  @Test func clientsAreCalledInTheOrderInWhichTheyWereAdded() {
    let clients = kept(addClients("abcdefgh", to: delegate, journal))
    #expect(!delegate.add(clients[0]))
    #expect(delegate.notify { $0.ping(1) } == 8)
    #expect(journal.read() == "a b c d e f g h")
    // A client that is removed and added again is the last one.
    #expect(delegate.remove(clients[0]))
    #expect(delegate.add(clients[0]))
    delegate.notify { $0.ping(1) }
    #expect(journal.read() == "b c d e f g h a")
  }

  @Test func clientsKeepTheirOrderAfterRemovalsAndCompaction() {
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

  /// The client is found deallocated by the call that would remove it.
  @Test func clientsThatRemoveThemselvesInTheirDeinitLeaveAnEmptyList() {
    final class Leaving: PingProtocol {
      let delegate: MulticastDelegate<any PingProtocol>
      init(_ delegate: MulticastDelegate<any PingProtocol>) { self.delegate = delegate }
      deinit {
        #expect(!delegate.contains(self))
        #expect(!delegate.remove(self))
      }
      func ping(_ number: Int) {}
    }
    var clients = (0..<100).map { _ in Leaving(delegate) }
    for client in clients { delegate.add(client) }
    clients = []
    #expect(delegate.clientList.boxes.isEmpty)
  }

  @Test func clientsAreComparedByIdentityNotByEquality() {
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

  @Test func aListIsEmptyBeforeItsFirstClientAndAfterRemoveAll() {
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
  func aListFindsAndRemovesEachOfItsClients(count: Int) {
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

  /// A list must not search through the boxes of removed clients again and again. If it did, this would
  /// take hours; it takes less than a second.
  @Test(.timeLimit(.minutes(5)))
  func removingAndAddingAClientOfALongListIsFast() {
    let clients = kept((0..<50_000).map { _ in Counter() })
    for client in clients { delegate.add(client) }
    for _ in 0..<Process.rounds(200_000, quick: 50_000) {
      delegate.remove(clients[7])
      delegate.add(clients[7])
      // A short-lived client, whose address the next one may have.
      delegate.add(Counter())
    }
    #expect(delegate.count == clients.count)
  }
}

/// Rule 7 of the contract, and the part of rule 2 about the address of a deallocated client.
@Suite struct DeinitTests {
  let journal = Journal()
  let center = MulticastCenter()

  /// A client that calls a closure in its `deinit`.
  final class Dying: PingProtocol {
    let atEnd: (Dying) -> Void
    init(_ atEnd: @escaping (Dying) -> Void) { self.atEnd = atEnd }
    deinit { atEnd(self) }
    func ping(_ number: Int) {}
  }

  @Test(arguments: [true, false]) func aClientCanUseTheListInItsDeinit(wasAdded: Bool) {
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

  @Test func aClientDeallocatedDuringANotifyCanUseTheListInItsDeinit() {
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

  @Test func aClientThatTheListItselfReleasesCanUseTheListInItsDeinit() {
    // The list loads the clients to make room for more, so it may release one last.
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

  @Test func anObjectAtTheAddressOfADeallocatedClientIsANewClient() {
    let list = center[PingProtocol.self]
    var addresses: Set<ObjectIdentifier> = []
    let count = Process.rounds(100_000, quick: 20_000)
    for number in 0..<count {
      let client = Counter()
      defer { extendLifetime(client) }
      addresses.insert(ObjectIdentifier(client))
      // The list still contains the box of the deallocated client with this address.
      if number % 100 == 1 { #expect(!list.contains(client) && !list.remove(client)) }
      if !list.add(client) { Issue.record("client \(number) was refused") }
    }
    // Otherwise no address was reused, and this has not tested anything. A sanitizer delays the reuse of memory.
    #expect(addresses.count < count / 2 || Process.isSanitized)
    #expect(list.notify { $0.ping(1) } == 0)
  }
}

/// Rules 1 to 7 of the contract together, compared with a simple model.
@Suite struct ModelTests {
  private func run(seed: UInt64, operations: Int, maximumOfClients: Int) {
    let model = Model(
      operations: operations, maximumOfClients: maximumOfClients,
      generator: SeededGenerator(seed: seed))
    do throws(Mismatch) {
      try model.run()
    } catch {
      Issue.record(
        "\(error), with seed \(seed), \(operations) operations and \(maximumOfClients) clients")
    }
  }

  @Test(arguments: [3, 10, 40, 200])
  func aDelegateBehavesLikeItsModel(maximumOfClients: Int) {
    for seed in 0..<UInt64(Process.rounds(100, quick: 10)) {
      run(seed: seed, operations: 300, maximumOfClients: maximumOfClients)
    }
    run(
      seed: 1, operations: Process.rounds(12_000, quick: 1200), maximumOfClients: maximumOfClients)
  }

  @Test func anInputIsWrittenAndReadAsHexadecimalDigits() throws {
    for text in ["", "00", "0aff10"] { #expect(try #require(Input(text)).description == text) }
    for text in ["0", "0g", "0x10", "a ", "é"] { #expect(Input(text) == nil) }
  }

  @Test func reducingAnInputRemovesPartsThatBecomeUnnecessaryLater() {
    // Without the 1, the input fails only after the 9 behind it has been removed.
    let input = Input(bytes: [1, 2, 9, 3])
    let reduced = input.reduced {
      $0.bytes.contains(2) && ($0.bytes.contains(1) || !$0.bytes.contains(9))
    }
    #expect(reduced.bytes == [2])
  }

  @Test func aCorrectDelegateHasNoMismatch() {
    #expect(Input(bytes: (0..<2000).map { UInt8($0 * 7 & 255) }).mismatch() == nil)
  }
}
