import Multicast
import TestSupport
import Testing

/// Batches, answers, and rule 12 of the contract: the first error ends the delivery and reaches the caller, as
/// what it is.
@Suite struct BatchAndMapTests {
  struct Stop: Error, Equatable { let name: String }

  let journal = Journal()
  let delegate = MulticastDelegate<any PingProtocol>()

  @Test func everyClientGetsAllEventsInOrderBeforeTheNextClient() {
    let clients = kept(addClients("ab", to: delegate, journal))
    #expect(delegate.notify(forEach: [Int]()) { $0.ping($1) } == 2)
    #expect(journal.read() == "")
    for client in clients { client.onPing = { [journal] number in journal.write("\(number)") } }
    #expect(delegate.notify(forEach: 1...3) { $0.ping($1) } == 2)
    #expect(journal.read() == "a 1 a 2 a 3 b 1 b 2 b 3")
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

  @Test func answersComeInTheOrderOfTheClients() {
    let names = { (client: any PingProtocol) in (client as? Client)?.name }
    #expect(delegate.map(names) == [])
    let clients = kept(addClients("abc", to: delegate, journal))
    #expect(delegate.map(names) == ["a", "b", "c"])
    let center = MulticastCenter()
    for client in clients.reversed() { center.add(client, for: PingProtocol.self) }
    #expect(center.map(PingProtocol.self, names) == ["c", "b", "a"])
  }

  @Test(arguments: ["notify", "forEach", "map"])
  func theFirstErrorEndsTheDelivery(way: String) {
    let clients = kept(addClients("abc", to: delegate, journal))
    let body = { (client: any PingProtocol) throws(Stop) in
      client.ping(1)
      if client as? Client === clients[1] { throw Stop(name: "b") }
    }
    do throws(Stop) {
      switch way {
      case "notify": try delegate.notify(body)
      case "forEach":
        try delegate.notify(forEach: [1]) { (client, _) throws(Stop) in try body(client) }
      default: _ = try delegate.map(body)
      }
      Issue.record("nothing was thrown")
    } catch {
      // `error` is a `Stop` for the compiler.
      #expect(error.name == "b")
    }
    #expect(journal.read() == "a b")
  }

  @Test func anErrorLeavesNoTrace() async throws {
    let reports = Reports()
    let center = MulticastCenter(onRecursion: reports.handler)
    center.adding(Client("a", journal))
    center.adding(Client("b", journal))
    func notify(failing: Bool) throws -> Int {
      try center.notify(PingProtocol.self) { _ in if failing { throw Stop(name: "") } }
    }
    for _ in 0..<3 {
      #expect(throws: Stop.self) { try notify(failing: true) }
      #expect(try notify(failing: false) == 2)
    }
    await #expect(throws: Stop(name: "b")) {
      try await center.notify(
        PingProtocol.self, awaiting: { _ async throws(Stop) in throw Stop(name: "b") })
    }
    #expect(reports.all.isEmpty)
  }

  @Test func aClientThatIsReleasedWhileTheErrorPassesIsReleased() {
    var client = Optional(Client("a", journal))
    weak var reference: Client?
    reference = client
    delegate.add(client!)
    #expect(throws: Stop.self) {
      try delegate.notify { _ throws(Stop) in
        client = nil
        throw Stop(name: "")
      }
    }
    #expect(reference == nil)
  }
}
