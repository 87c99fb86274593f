import TestSupport
import Multicast
import Testing

@Suite struct MapTests {
  let journal = Journal()
  let delegate = MulticastDelegate<Client>()

  @Test func answersComeInTheOrderOfTheClients() {
    let clients = kept("abc".map { Client(String($0), journal) })
    for client in clients { delegate.add(client) }
    #expect(delegate.map { $0.name } == ["a", "b", "c"])
    let center = MulticastCenter()
    for client in clients.reversed() { center.add(client, for: PingProtocol.self) }
    #expect(center.map(PingProtocol.self) { ($0 as? Client)?.name } == ["c", "b", "a"])
  }

  @Test func withoutClientsThereAreNoAnswers() {
    #expect(delegate.map { $0.name } == [])
  }

  @Test func anErrorEndsTheQuestions() {
    struct Stop: Error {}
    let clients = kept("abc".map { Client(String($0), journal) })
    for client in clients { delegate.add(client) }
    #expect(throws: Stop.self) {
      _ = try delegate.map { client throws(Stop) in
        journal.write(client.name)
        if client.name == "b" { throw Stop() }
      }
    }
    #expect(journal.read() == "a b")
  }
}
