import TestSupport
import CoreModel
import Multicast
import Testing

/// Rule 9 of the contract. These tests find most under the thread sanitizer.
@Suite struct ThreadTests {
  let delegate = MulticastDelegate<any PingProtocol>()
  private let rounds = Process.rounds(5000, quick: 500)

  @Test func notifyCallsClientsOnItsOwnThread() {
    let threads = Collected<UInt>()
    delegate.adding(Listener { _ in threads.add(Process.currentThread) })
    onNewThread {
      delegate.notify { $0.ping(1) }
      threads.add(Process.currentThread)
    }
    let all = threads.take()
    #expect(all.count == 2 && all.first == all.last)
  }

  @Test func eightThreadsCanUseACenterConcurrently() {
    let center = MulticastCenter()
    let delegate = center[PingProtocol.self]
    let lasting = kept((0..<50).map { _ in Counter() })
    for client in lasting { delegate.add(client) }
    // Another list, whose clients all threads remove again and again.
    let brief = MulticastDelegate<any PingProtocol>()
    let notifies = Atomic<Int>(0)
    onThreads(8) { thread in
      var generator = SeededGenerator(seed: UInt64(thread))
      var own: [Counter] = []
      for _ in 0..<rounds {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0, 1:
          let client = Counter()
          defer { extendLifetime(client) }
          #expect(delegate.add(client))
          #expect(!delegate.add(client))
          own.append(client)
        case 2:
          if let client = own.popLast() { #expect(delegate.remove(client)) }
        case 3: _ = own.popLast()
        case 4:
          if let client = own.last { #expect(delegate.contains(client)) }
        case 5:
          #expect(delegate.clients.count >= lasting.count)
          brief.removeAll()
        case 6 where Bool.random(using: &generator):
          brief.add(lasting[0])
          brief.notify { _ in }
        case 6:
          if let client = own.popLast() { #expect(center.remove(client) == 1) }
        case 7:
          #expect(center.map(PingProtocol.self) { _ in 1 }.count >= lasting.count)
        default:
          #expect(center.notify(PingProtocol.self) { $0.ping(1) } >= lasting.count)
          notifies.wrappingAdd(1, ordering: .relaxed)
        }
        if own.count > 20 { own.removeFirst(10) }
      }
    }
    #expect(delegate.count == lasting.count)
    for client in lasting { #expect(client.calls == notifies.load(ordering: .relaxed)) }
  }

  @Test func clientsThatEightThreadsAddAreAddedOnce() {
    let clients = kept((0..<1000).map { _ in Counter() })
    let added = Atomic<Int>(0)
    onThreads(8) { _ in
      for client in clients where delegate.add(client) { added.wrappingAdd(1, ordering: .relaxed) }
    }
    #expect(added.load(ordering: .relaxed) == clients.count)
    #expect(delegate.notify { $0.ping(1) } == clients.count)
    onThreads(8) { _ in
      for client in clients where delegate.remove(client) {
        added.wrappingAdd(-1, ordering: .relaxed)
      }
    }
    #expect(added.load(ordering: .relaxed) == 0)
    #expect(delegate.isEmpty)
  }

  @Test func noCallBeginsOnTheRemovingThreadAfterARemoval() {
    let others = kept((0..<10).map { _ in Counter() })
    for client in others { delegate.add(client) }
    onThreads(4) { _ in
      let own = Counter()
      defer { extendLifetime(own) }
      for _ in 0..<rounds {
        delegate.add(own)
        delegate.notify { $0.ping(1) }
        delegate.remove(own)
        // Notifies of other threads may still be calling the client. Those of this thread must not.
        delegate.notify { client in
          #expect(client as AnyObject !== own)
        }
      }
    }
    #expect(delegate.count == others.count)
  }

  @Test func listsCanBeCreatedWhileOtherThreadsSearchThem() {
    @Sendable func add<Value>(_ value: Value.Type, depth: Int, to center: MulticastCenter) {
      let client = Key<Value>()
      defer { extendLifetime(client) }
      #expect(center[Key<Value>.self] === center[Key<Value>.self])
      center.add(client, for: Key<Value>.self)
      if depth > 0 { add([Value].self, depth: depth - 1, to: center) }
      #expect(center.contains(client, for: Key<Value>.self))
    }
    for _ in 0..<20 {
      let center = MulticastCenter()
      let client = Counter()
      defer { extendLifetime(client) }
      center.add(client, for: PingProtocol.self)
      onThreads(4) { thread in
        if thread < 2 { return add(Int.self, depth: 40, to: center) }
        for _ in 0..<100 {
          center.remove(client)
          center.add(client, for: PingProtocol.self)
        }
      }
      #expect(center.remove(client) == 1)
      #expect(center.wiring.protocols.count == 42)
    }
  }

  @Test func threadsThatCreateAListConcurrentlyGetTheSameOne() {
    // Each thread adds a client of its own to a new list. If there is one list, it contains all clients.
    let threads = 4
    for _ in 0..<rounds {
      let center = MulticastCenter()
      let arrived = Atomic<Int>(0)
      let clients = (0..<threads).map { _ in Counter() }
      defer { extendLifetime(clients) }
      onThreads(threads) { thread in
        // The wait is limited, because there may be fewer threads than requested.
        arrived.wrappingAdd(1, ordering: .relaxed)
        for attempt in 0..<1100 where arrived.load(ordering: .relaxed) < 2 {
          if attempt >= 1000 { Process.letOthersRun() }
        }
        center.add(clients[thread], for: PingProtocol.self)
      }
      #expect(center[PingProtocol.self].clients.count == threads)
    }
  }
}

private final class Key<Value> {}
