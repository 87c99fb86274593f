import Multicast
import Testing

private enum Zero {}
private enum One {}
private enum Pair<First, Second> {}
private final class Key<Number> {}

/// A million clients in one list, and ten thousand lists in one center. What a delivery costs there is
/// measured in Benchmarks.
@Suite(.enabled(if: !Process.isSanitized)) struct ScaleTests {
  @Test func aMillionClientsInOneList() async {
    await #expect(processExitsWith: .success) {
      let delegate = MulticastDelegate<any PingProtocol>()
      let count = Process.rounds(1_000_000, quick: 50_000)
      var clients = (0..<count).map { _ in Counter() }
      let before = Process.residentBytes
      for client in clients { precondition(delegate.add(client)) }
      if let before, let after = Process.residentBytes {
        // As much as in a short list; a debug build's isolation check comes on top.
        precondition((after - before) / count <= 160 + 16)
      }
      precondition(delegate.notify { $0.ping(1) } == count)
      for index in stride(from: 0, to: count, by: 1000) {
        precondition(!delegate.add(clients[index]))
        precondition(delegate.remove(clients[index]))
        precondition(delegate.add(clients[index]))
      }
      precondition(delegate.notify { $0.ping(1) } == count)
      precondition(clients.allSatisfy { $0.calls == 2 })
      // The dead half is passed over by the next notify, which also reclaims it.
      clients.removeFirst(count / 2 + 1)
      precondition(delegate.notify { $0.ping(1) } == clients.count)
      precondition(delegate.count == clients.count)
      extendLifetime(clients)
    }
  }

  @Test func tenThousandListsInOneCenter() {
    let center = MulticastCenter()
    var clients: [AnyObject] = []
    // Each of the numbers, written with two digits, is a type.
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
