import Multicast
import Testing

extension MemoryTests {
  /// Fails the process if many lists keep more than a little after `body` has got rid of
  /// nearly all of their five thousand clients. Nothing is added afterwards that could reclaim.
  static func expectReclaimed(
    _ body: (_ delegate: MulticastDelegate<any PingProtocol>, _ clients: inout [Counter]) -> Void
  ) {
    func list() -> MulticastDelegate<any PingProtocol> {
      let delegate = MulticastDelegate<any PingProtocol>()
      var clients = keep(5000, in: delegate)
      defer { extendLifetime(clients) }
      body(delegate, &clients)
      return delegate
    }
    var lists = (0..<5).map { _ in list() }
    let before = Process.residentBytes ?? 0
    let count = Process.rounds(100, quick: 12)
    for _ in 0..<count { lists.append(list()) }
    let growth = (Process.residentBytes ?? 0) - before
    // Five thousand registrations are a third of a megabyte.
    precondition(growth <= 80_000 * count, "memory grew by \(growth) bytes")
    extendLifetime(lists)
  }

  @Test func aNotifyReclaimsWhatItFindsDeadAtOnce() async {
    await #expect(processExitsWith: .success) {
      Self.expectReclaimed { delegate, clients in
        clients.removeLast(4900)
        delegate.notify { $0.ping(1) }
      }
    }
  }

  @Test func anAwaitedNotifyReclaimsWhatItFindsDeadAtOnce() async {
    await #expect(processExitsWith: .success) {
      var lists: [MulticastDelegate<any PingProtocol>] = []
      var before = 0
      let count = Process.rounds(100, quick: 12)
      for number in 0..<(count + 5) {
        if number == 5 { before = Process.residentBytes ?? 0 }
        let delegate = MulticastDelegate<any PingProtocol>()
        _ = Self.keep(5000, in: delegate)
        await delegate.notify(awaiting: { $0.ping(1) })
        lists.append(delegate)
      }
      let growth = (Process.residentBytes ?? 0) - before
      precondition(growth <= 80_000 * count, "memory grew by \(growth) bytes")
    }
  }

  @Test func aNotifyThatFailsReclaimsWhatItFoundDead() async {
    await #expect(processExitsWith: .success) {
      struct Stop: Error {}
      Self.expectReclaimed { delegate, clients in
        clients.removeFirst(4900)
        do throws(Stop) {
          try delegate.notify { _ throws(Stop) in throw Stop() }
        } catch {}
      }
    }
  }

  @Test func countingReclaimsWhatItFindsDead() async {
    await #expect(processExitsWith: .success) {
      Self.expectReclaimed { delegate, clients in
        clients.removeLast(4900)
        precondition(delegate.count == 100)
      }
    }
  }

  @Test func removingReclaims() async {
    await #expect(processExitsWith: .success) {
      Self.expectReclaimed { delegate, clients in
        for client in clients.dropFirst(100) { delegate.remove(client) }
      }
    }
  }

  @Test func removingAllReclaims() async {
    await #expect(processExitsWith: .success) {
      Self.expectReclaimed { delegate, _ in delegate.removeAll() }
    }
  }

  @Test func whatIsRemovedDuringANotifyIsReclaimedAtItsEnd() async {
    await #expect(processExitsWith: .success) {
      Self.expectReclaimed { delegate, clients in
        let removed = clients.dropFirst(100)
        let first = clients[0]
        delegate.notify { client in
          guard client as AnyObject === first else { return }
          for client in removed { delegate.remove(client) }
        }
      }
    }
  }

  @Test func allThatIsRemovedDuringANotifyIsReclaimedAtItsEnd() async {
    await #expect(processExitsWith: .success) {
      Self.expectReclaimed { delegate, _ in
        delegate.notify { _ in delegate.removeAll() }
      }
    }
  }

  @Test func storageThatWasReplacedDuringANotifyIsFreedAtItsEnd() async {
    await #expect(processExitsWith: .success) {
      Self.expectReclaimed { delegate, clients in
        let first = clients[0]
        delegate.notify { client in
          guard client as AnyObject === first else { return }
          // Some die before the list is full, so that it is replaced rather than grown.
          for _ in 0..<12 { _ = Self.keep(1000, in: delegate) }
        }
        clients.removeLast(4900)
        delegate.notify { $0.ping(1) }
      }
    }
  }

  @Test func storageThatIsReplacedInManyNotifiesIsFreedAfterEach() async {
    await #expect(processExitsWith: .success) {
      let delegate = MulticastDelegate<any PingProtocol>()
      let lasting = Self.keep(1000, in: delegate)
      Self.expectNoGrowth(
        beyond: Process.rounds(10, quick: 3), rounds: Process.rounds(1500, quick: 800)
      ) {
        delegate.notify { client in
          guard client as AnyObject === lasting[0] else { return }
          // One at a time, so that never more than half of the list is dead: then the old storage
          // would be freed together with what is dead.
          for _ in 0..<100 { delegate.add(Counter()) }
        }
      }
      precondition(delegate.count == lasting.count)
    }
  }

  @Test func aNotifyThatFailsIsNotUnderWayForEver() async {
    await #expect(processExitsWith: .success) {
      struct Stop: Error {}
      let delegate = MulticastDelegate<any PingProtocol>()
      let lasting = Self.keep(10, in: delegate)
      Self.expectNoGrowth(beyond: 3, rounds: 4000) {
        do throws(Stop) {
          try delegate.notify { _ throws(Stop) in throw Stop() }
        } catch {}
        // So many that the storage is replaced if somebody seems to walk over it.
        for _ in 0..<20 { delegate.add(Counter()) }
      }
      precondition(delegate.count == lasting.count)
    }
  }

  @Test func anAwaitedNotifyThatFailsIsNotUnderWayForEver() async {
    await #expect(processExitsWith: .success) {
      struct Stop: Error {}
      let delegate = MulticastDelegate<any PingProtocol>()
      let lasting = Self.keep(10, in: delegate)
      var before = 0
      for number in 0..<4040 {
        if number == 40 { before = Process.residentBytes ?? 0 }
        do throws(Stop) {
          try await delegate.notify(awaiting: { _ async throws(Stop) in throw Stop() })
        } catch {}
        for _ in 0..<20 { delegate.add(Counter()) }
      }
      let growth = ((Process.residentBytes ?? 0) - before) / 1_000_000
      precondition(growth <= 3, "memory grew by \(growth) MB")
      precondition(delegate.count == lasting.count)
    }
  }

  @Test func churnHoldsAtMostAboutTwiceTheMostClientsThatWereAlive() async {
    await #expect(processExitsWith: .success) {
      let delegate = MulticastDelegate<any PingProtocol>()
      let scale = Process.rounds(5, quick: 1)
      let lasting = Self.keep(20_000 * scale, in: delegate)
      let before = Process.residentBytes ?? 0
      // A thousand at a time, so that they have different addresses.
      for _ in 0..<(140 * scale) { _ = Self.keep(1000, in: delegate) }
      let growth = ((Process.residentBytes ?? 0) - before) / 1_000_000
      // At full size, as many dead ones as live ones take up to 14 megabytes, and a copy of the live ones, which is
      // made meanwhile, another 10. What goes at once would be 95.
      precondition(growth <= 7 * scale, "memory grew by \(growth) MB")
      precondition(delegate.count == lasting.count)
    }
  }

  @Test func evenEmptyListsAndCentersLeaveNothingBehind() async {
    await #expect(processExitsWith: .success) {
      Self.expectNoGrowth(beyond: 3, rounds: Process.rounds(300_000, quick: 40_000)) {
        _ = MulticastDelegate<any PingProtocol>()
        _ = MulticastCenter()
      }
    }
  }
}
