import TestSupport
import Multicast
import Testing

/// Rule 12 of the contract: the first error ends the notify and reaches the caller, as what it is.
@Suite struct ErrorTests {
  struct Stop: Error, Equatable { let name: String }

  let journal = Journal()
  let delegate = MulticastDelegate<any PingProtocol>()

  @Test func theFirstErrorEndsTheNotify() {
    let clients = kept(addClients("abc", to: delegate, journal))
    do throws(Stop) {
      try delegate.notify { client throws(Stop) in
        client.ping(1)
        if client as? Client === clients[1] { throw Stop(name: "b") }
      }
      Issue.record("nothing was thrown")
    } catch {
      // `error` is a `Stop` for the compiler.
      #expect(error.name == "b")
    }
    #expect(journal.read() == "a b")
  }

  @Test func theErrorReachesTheCallerThroughTheCenter() async {
    let center = MulticastCenter()
    center.adding(Client("a", journal))
    #expect(throws: Stop(name: "a")) {
      try center.notify(PingProtocol.self) { _ throws(Stop) in throw Stop(name: "a") }
    }
    await #expect(throws: Stop(name: "b")) {
      try await center.notify(
        PingProtocol.self, awaiting: { _ async throws(Stop) in throw Stop(name: "b") })
    }
  }

  @Test func anErrorLeavesNoTrace() throws {
    let reports = Reports()
    let delegate = MulticastDelegate<any PingProtocol>(onRecursion: reports.handler)
    _ = kept(addClients("ab", to: delegate, journal))
    func notify(failing: Bool) throws -> Int {
      try delegate.notify { client in
        client.ping(1)
        if failing { throw Stop(name: "") }
      }
    }
    for _ in 0..<3 {
      #expect(throws: Stop.self) { try notify(failing: true) }
      #expect(try notify(failing: false) == 2)
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
