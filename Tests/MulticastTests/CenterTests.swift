import Dispatch
import TestSupport
import Testing

@testable import Multicast

/// A center finds the list of each protocol, and passes each operation on to it.
@Suite struct MulticastCenterTests {
  let journal = Journal()
  let center = MulticastCenter()

  @Test func aCenterAndItsSubscriptUseTheSameList() {
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

  @Test func aNotifyCallsOnlyClientsOfItsProtocolInItsCenter() {
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

  @Test func aProtocolWithoutClientsIsEmpty() async {
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

  @Test func removingAnObjectRemovesItFromEveryProtocol() {
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

  @Test func aDelegateWorksAfterItsCenterIsDeallocated() {
    var center = Optional(MulticastCenter())
    let delegate = center![PingProtocol.self]
    center = nil
    let client = kept(Client("a", journal))
    #expect(delegate.add(client))
    #expect(delegate.notify { $0.ping(1) } == 1)
  }

  @Test func theDefaultCenterAddsClients() {
    final class Local: PingProtocol { func ping(_ number: Int) {} }
    let client = kept(Local())
    #expect(MulticastCenter.default.add(client, for: Local.self))
    #expect(MulticastCenter.default.contains(client, for: Local.self))
  }
}

@Suite struct RegistryTableTests {
  private final class Registry: ClientRegistry {
    func removeClient(_ client: AnyObject) -> Int { 0 }
    func removeAll() {}
    var lists: [ClientList] { [] }
  }

  @Test func aThreadThatLooksUpARegistryDuringItsCreationGetsTheSameOne() {
    let key = ObjectIdentifier(Registry.self)
    for _ in 0..<20 {
      let table = RegistryTable()
      let (isComing, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      _ = table.findOrAdd(key) {
        DispatchQueue(label: "other").async {
          isComing.signal()
          _ = table.findOrAdd(key) { Registry() }
          isDone.signal()
        }
        isComing.wait()
        // Give the other thread time to look for the registry before it is stored. If it comes later, the test passes, too.
        for _ in 0..<1000 { Process.letOthersRun() }
        return Registry()
      }
      isDone.wait()
      #expect(table.all.count == 1)
    }
  }

  /// The thread sanitizer reports a registry that a thread reads before another one has initialized it. In each round, the
  /// threads wait for each other before and after they read the new center, so that they use it at the same moment.
  @Test func aThreadThatFindsARegistrySeesItFullyInitialized() {
    let (owner, done) = (kept(Owner()), DispatchSemaphore(value: 0))
    let arrivals = Atomic<Int>(0)
    let current = Locked<MulticastCenter>(MulticastCenter())
    let rounds = Process.rounds(20_000, quick: 5_000)
    @Sendable func meet(_ number: Int) {
      arrivals.wrappingAdd(1, ordering: .acquiringAndReleasing)
      while arrivals.load(ordering: .acquiring) < 2 * number { Process.letOthersRun() }
    }
    for thread in 0..<2 {
      DispatchQueue(label: "thread").async {
        for round in 0..<rounds {
          if thread == 0 { current.withLock { $0 = MulticastCenter() } }
          meet(2 * round + 1)
          let center = current.withLock { $0 }
          meet(2 * round + 2)
          if thread == 0 { center.observe(.login, owner: owner) { _, _ in } }
          for _ in 0..<4 { _ = center.latest(of: .login) }
        }
        done.signal()
      }
    }
    for _ in 0..<2 { done.wait() }
  }
}

private enum Zero {}
private enum One {}
private enum Pair<First, Second> {}
private final class Key<Number> {}

/// A million clients in one list, and ten thousand lists in one center. What a delivery costs there is
/// measured in Benchmarks.
@Suite(.enabled(if: !Process.isSanitized)) struct ScaleTests {
  @Test func oneListHoldsAMillionClients() async {
    await #expect(processExitsWith: .success) {
      let delegate = MulticastDelegate<any PingProtocol>()
      let count = Process.rounds(1_000_000, quick: 50_000)
      var clients = (0..<count).map { _ in Counter() }
      let before = Process.residentBytes
      for client in clients { precondition(delegate.add(client)) }
      if let before, let after = Process.residentBytes {
        // A client takes as much memory as in a short list. A debug build adds the isolation check.
        #if DEBUG
          let most = 160 + 32
        #else
          let most = 160
        #endif
        precondition((after - before) / count <= most, "\((after - before) / count) bytes")
      }
      precondition(delegate.notify { $0.ping(1) } == count)
      for index in stride(from: 0, to: count, by: 1000) {
        precondition(!delegate.add(clients[index]))
        precondition(delegate.remove(clients[index]))
        precondition(delegate.add(clients[index]))
      }
      precondition(delegate.notify { $0.ping(1) } == count)
      precondition(clients.allSatisfy { $0.calls == 2 })
      // The next notify skips the deallocated half of the clients, and frees their boxes.
      clients.removeFirst(count / 2 + 1)
      precondition(delegate.notify { $0.ping(1) } == clients.count)
      precondition(delegate.count == clients.count)
      extendLifetime(clients)
    }
  }

  @Test func oneCenterHoldsTenThousandLists() {
    let center = MulticastCenter()
    var clients: [AnyObject] = []
    // Each number, written in the digits Zero and One, is a type.
    func visit<Number>(_ number: Number.Type, digits: Int, _ body: (Int) -> Void) {
      guard digits > 0 else {
        let client = Key<Number>()
        clients.append(client)
        center.add(client, for: Key<Number>.self)
        return body(center.notify(Key<Number>.self) { key in precondition(key === client) })
      }
      visit(Pair<Number, Zero>.self, digits: digits - 1, body)
      visit(Pair<Number, One>.self, digits: digits - 1, body)
    }
    var calls = 0
    let digits = Process.rounds(13, quick: 9)
    visit(Void.self, digits: digits) { calls += $0 }
    visit(Never.self, digits: digits - 2) { calls += $0 }
    #expect(calls == 5 << (digits - 2))
    for client in clients.prefix(100) { #expect(center.remove(client) == 1) }
  }
}
