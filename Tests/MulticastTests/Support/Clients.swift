import TestSupport
import Multicast

/// The listener protocol of most tests: not restricted to classes, so that its existential is of the
/// general layout.
protocol PingProtocol {
  func ping(_ number: Int)
}

/// A client that writes down its calls and can do something in them.
final class Client: PingProtocol {
  let name: String
  private let journal: Journal
  var onPing: ((Int) -> Void)?

  init(_ name: String, _ journal: Journal) {
    self.name = name
    self.journal = journal
  }

  func ping(_ number: Int) {
    journal.write(name)
    onPing?(number)
  }
}

/// A client for any thread, which counts its calls.
final class Counter: PingProtocol, Sendable {
  private let number = Atomic<Int>(0)

  var calls: Int { number.load(ordering: .relaxed) }

  func ping(_ number: Int) {
    self.number.wrappingAdd(1, ordering: .relaxed)
  }
}

extension MulticastCenter {
  /// Adds a client that lives anywhere, and keeps it.
  @discardableResult
  func adding<Client: PingProtocol>(_ client: Client) -> Client {
    self[PingProtocol.self].adding(client)
  }

  /// Adds a client that lives anywhere, and keeps it.
  @discardableResult
  func adding(_ client: Worker) -> Worker {
    self[WorkerProtocol.self].adding(client)
  }
}

extension MulticastDelegate<any PingProtocol> {
  /// Adds a client that lives anywhere, and keeps it.
  @discardableResult
  func adding<Client: PingProtocol>(_ client: Client) -> Client {
    add(kept(client), on: nil)
    return client
  }
}

extension MulticastDelegate<any WorkerProtocol> {
  /// Adds a client that lives anywhere, and keeps it.
  @discardableResult
  func adding(_ client: Worker) -> Worker {
    add(kept(client))
    return client
  }
}

/// Adds one client for each name, in this order.
func addClients(
  _ names: String, to delegate: MulticastDelegate<any PingProtocol>, _ journal: Journal
) -> [Client] {
  names.map { name in
    let client = Client(String(name), journal)
    delegate.add(client)
    return client
  }
}
