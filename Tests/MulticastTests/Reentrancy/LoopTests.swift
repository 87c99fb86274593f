import TestSupport
import Multicast
import Testing

private protocol OtherProtocol {
  func other()
}

/// Rule 11 of the contract, for synchronous notifies.
@Suite struct LoopTests {
  let journal = Journal()
  let reports = Reports()
  var center: MulticastCenter { reports.center }

  /// A client that answers calls of both protocols with closures.
  final class Echo: PingProtocol, OtherProtocol {
    var onPing: () -> Void = {}
    var onOther: () -> Void = {}
    func ping(_ number: Int) { onPing() }
    func other() { onOther() }
  }

  // MARK: - Loops

  @Test func aCallSiteInsideItselfIsRefusedAndReported() throws {
    let echo = center.adding(Echo())
    var results: [Int] = []
    func notify() -> Int { center.notify(PingProtocol.self) { $0.ping(1) } }
    echo.onPing = { results.append(notify()) }
    #expect(notify() == 1)
    #expect(results == [0])
    let report = try #require(reports.all.first)
    #expect(reports.all.count == 1)
    #expect(report.key == "PingProtocol")
    #expect(report.path.count == 2)
    #expect(report.path[0] == report.path[1])
    #expect(report.path[0].fileID == #fileID)
    // The chain is as it was before.
    #expect(notify() == 1)
    #expect(reports.all.count == 2)
  }

  @Test func aLoopThroughTwoProtocolsHasBothInItsPath() throws {
    let echo = center.adding(Echo())
    center.add(echo, for: OtherProtocol.self)
    let pingLine = #line + 1
    func ping() -> Int { center.notify(PingProtocol.self) { $0.ping(1) } }
    let otherLine = #line + 1
    func other() -> Int { center.notify(OtherProtocol.self) { $0.other() } }
    var calls = 0
    echo.onPing = { calls += other() }
    echo.onOther = { calls += ping() }
    #expect(ping() == 1)
    #expect(calls == 1)
    let report = try #require(reports.all.first)
    #expect(report.path.map(\.line) == [pingLine, otherLine, pingLine])
    #expect(report.key == "PingProtocol")
  }

  @Test func aLoopThroughTwoCentersIsFound() throws {
    let otherReports = Reports()
    let other = MulticastCenter(onRecursion: otherReports.handler)
    let one = kept(Echo())
    let two = kept(Echo())
    center.add(one, for: PingProtocol.self)
    other.add(two, for: PingProtocol.self)
    func inOne() -> Int { center.notify(PingProtocol.self) { $0.ping(1) } }
    func inOther() -> Int { other.notify(PingProtocol.self) { $0.ping(1) } }
    var results: [Int] = []
    one.onPing = { results.append(inOther()) }
    two.onPing = { results.append(inOne()) }
    #expect(inOne() == 1)
    #expect(results == [0, 1])
    #expect(reports.all.count == 1)
    #expect(reports.all.first?.path.count == 3)
    #expect(otherReports.all.isEmpty)
  }

  @Test(arguments: [1, 2, 50])
  func aLoopWithManyClientsEndsAfterEachHasCalledAll(count: Int) {
    var calls = 0
    let clients = kept((0..<count).map { _ in Echo() })
    for client in clients {
      center.add(client, for: PingProtocol.self)
      client.onPing = { [center] in
        calls += 1
        center.notify(PingProtocol.self) { $0.ping(1) }
      }
    }
    center.notify(PingProtocol.self) { $0.ping(1) }
    #expect(calls == count + count * count)
    #expect(reports.all.count == count * count)
  }

  @Test func theFourWaysOfDeliveringAreGuardedTogether() {
    let echo = center.adding(Echo())
    var depth = 0
    func map() { _ = center.map(PingProtocol.self) { $0.ping(1) } }
    func batch() { center.notify(PingProtocol.self, forEach: [1]) { $0.ping($1) } }
    func notify() { center.notify(PingProtocol.self) { $0.ping(1) } }
    echo.onPing = {
      depth += 1
      map()
      batch()
      notify()
    }
    notify()
    // Each way may be entered once in each chain: the number of arrangements of three sites, with
    // the first one taken, and those of the inner two.
    #expect(depth == 1 + 2 + 2)
    #expect(reports.all.allSatisfy { $0.path.count <= 4 })
  }

  // MARK: - No loops

  @Test func aNestedNotifyFromAnotherCallSiteIsDelivered() {
    let echo = kept(Echo())
    var calls = 0
    center.add(echo, for: PingProtocol.self)
    echo.onPing = { [center] in
      calls += 1
      guard calls == 1 else { return }
      #expect(center.notify(PingProtocol.self) { $0.ping(2) } == 1)
    }
    center.notify(PingProtocol.self) { $0.ping(1) }
    #expect(calls == 2)
    #expect(reports.all.isEmpty)
  }

  @Test func oneCallSiteMayServeTwoLists() {
    let one = kept(Echo())
    let two = kept(Echo())
    let other = MulticastCenter(onRecursion: reports.handler)
    center.add(one, for: PingProtocol.self)
    other.add(two, for: PingProtocol.self)
    func notify(_ center: MulticastCenter) -> Int {
      center.notify(PingProtocol.self) { $0.ping(1) }
    }
    one.onPing = { #expect(notify(other) == 1) }
    #expect(notify(center) == 1)
    #expect(reports.all.isEmpty)
  }

  @Test func anotherThreadIsAnotherChain() async {
    final class Handover: PingProtocol, @unchecked Sendable {
      // Unchecked: written before the first notify.
      var onPing: @Sendable (Int) -> Void = { _ in }
      func ping(_ number: Int) { onPing(number) }
    }
    let client = kept(Handover())
    let reached = kept(Counter())
    center.add(client, for: PingProtocol.self)
    @Sendable func notify(_ number: Int) -> Int {
      center.notify(PingProtocol.self) { $0.ping(number) }
    }
    client.onPing = { number in
      guard number == 1 else { return reached.ping(number) }
      onNewThread { #expect(notify(2) == 1) }
    }
    #expect(notify(1) == 1)
    #expect(reached.calls == 1)
    #expect(reports.all.isEmpty)
  }

  @Test func aTaskThatAHandlerStartsMayNotifyAgain() async {
    final class Restarter: PingProtocol, @unchecked Sendable {
      // Unchecked: written before the first notify.
      var onPing: @Sendable (Int) -> Void = { _ in }
      func ping(_ number: Int) { onPing(number) }
    }
    let client = kept(Restarter())
    center.add(client, for: PingProtocol.self)
    let (results, continuation) = AsyncStream.makeStream(of: Int.self)
    @Sendable func notify(_ number: Int) -> Int {
      center.notify(PingProtocol.self) { $0.ping(number) }
    }
    client.onPing = { number in
      if number < 3 {
        Task { continuation.yield(notify(number + 1)) }
      } else {
        continuation.finish()
      }
    }
    #expect(notify(0) == 1)
    for await result in results { #expect(result == 1) }
    #expect(reports.all.isEmpty)
  }

  // MARK: - Call sites

  @Test func aWrapperThatPassesItsCallersOnCountsAsThem() {
    let echo = center.adding(Echo())
    func wrapped(
      fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
    ) -> Int {
      center.notify(PingProtocol.self, fileID: fileID, line: line, column: column) { $0.ping(1) }
    }
    func opaque() -> Int {
      center.notify(PingProtocol.self) { $0.ping(1) }
    }
    var results: [Int] = []
    var depth = 0
    echo.onPing = {
      depth += 1
      if depth == 1 { results.append(wrapped()) }
    }
    #expect(wrapped() == 1)
    #expect(results == [1])
    #expect(reports.all.isEmpty)

    depth = 0
    results = []
    echo.onPing = {
      depth += 1
      if depth == 1 { results.append(opaque()) }
    }
    #expect(opaque() == 1)
    // Both calls stand at the one place inside of `opaque`.
    #expect(results == [0])
    #expect(reports.all.count == 1)
  }
}
