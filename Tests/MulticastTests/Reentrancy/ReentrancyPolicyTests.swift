import TestSupport
import Multicast
import Testing

@Suite struct ReentrancyPolicyTests {
  let journal = Journal()
  let reports = Reports()

  /// How deep a notify gets that notifies again from the same call site without end.
  func depthOfLoop(_ policy: ReentrancyPolicy, limit: Int = 100) -> Int {
    let delegate = MulticastDelegate<any PingProtocol>(
      reentrancy: policy, onRecursion: reports.handler)
    let client = delegate.adding(Client("a", journal))
    var depth = 0
    func notify() {
      delegate.notify { $0.ping(1) }
    }
    client.onPing = { _ in
      depth += 1
      if depth < limit { notify() }
    }
    notify()
    return depth
  }

  @Test(arguments: [0, 1, 2, 10])
  func allowLetsACallSiteBeActiveInsideItself(depth: Int) {
    // Recursion that ends within its depth is not reported.
    #expect(depthOfLoop(.allow(depth: depth), limit: depth + 1) == depth + 1)
    #expect(reports.all.isEmpty)
    #expect(depthOfLoop(.allow(depth: depth)) == depth + 1)
    #expect(reports.all.map(\.path.count) == [depth + 2])
  }

  @Test func refuseNestingRefusesOtherCallSitesTooAndLetsOtherProtocolsPass() {
    #expect(depthOfLoop(.refuseLoops) == 1)
    let center = MulticastCenter(reentrancy: .refuseNesting, onRecursion: reports.handler)
    let client = center.adding(Client("a", Journal()))
    center.add(client, for: Client.self)
    var results: [Int] = []
    client.onPing = { number in
      guard number == 1 else { return }
      results.append(center.notify(Client.self) { $0.ping(2) })
      results.append(center.notify(PingProtocol.self) { $0.ping(2) })
    }
    #expect(center.notify(PingProtocol.self) { $0.ping(1) } == 1)
    #expect(results == [1, 0])
    #expect(reports.all.map(\.path.count) == [2, 2])
  }

  @Test func aHandlerThatNotifiesIntoALoopEnds() async {
    let result = await #expect(processExitsWith: .success, observing: .errors) {
      // The client notifies from its own site, which is refused; the handler notifies, and what is
      // refused in there is printed, and not handed to it again.
      precondition(Self.notifyIntoALoop() == "a a ! a")
    }
    #expect(
      text(result).hasPrefix("Multicast: A recursive notification of PingProtocol was refused"))
    #expect(text(result).split(separator: "\n").count == 1)
  }

  /// Not in the macro, which would be the call site of all that stands in it.
  private static func notifyIntoALoop() -> String {
    // It is called with no lock held.
    let reference = Locked<MulticastCenter?>(nil)
    let journal = Journal()
    let center = MulticastCenter { _ in
      journal.write("!")
      reference.withLock { $0 }?.notify(PingProtocol.self) { $0.ping(2) }
    }
    reference.withLock { $0 = center }
    defer { reference.withLock { $0 = nil } }
    let client = center.adding(Client("a", journal))
    client.onPing = { _ in center.notify(PingProtocol.self) { $0.ping(1) } }
    center.notify(PingProtocol.self) { $0.ping(0) }
    return journal.read()
  }

  @Test func aNegativeDepthStopsTheProgramAndSaysSo() async {
    let result = await #expect(processExitsWith: .crash, observing: .errors) {
      _ = MulticastCenter(reentrancy: .allow(depth: -1))
    }
    #expect(text(result).contains("ReentrancyPolicy.allow(depth: -1) is negative; use 0 or more"))
  }
}
