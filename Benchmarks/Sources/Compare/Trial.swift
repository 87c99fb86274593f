import Clients
import Systems

/// A system and its clients.
final class Trial {
  let contender: Contender
  private let clients: [any Client]
  private let system: any System
  private var events = 0

  /// - Parameter scattered: Whether the clients stand in the list in another order than in memory.
  init(_ contender: Contender, clientCount: Int, scattered: Bool = false) {
    self.contender = contender
    var clients = Clients.make(clientCount)
    var generator = SeededGenerator(seed: 1)
    if scattered { clients.shuffle(using: &generator) }
    self.clients = clients
    system = contender.make(clients)
  }

  func send(_ count: Int) {
    system.send(count)
    events += count
  }

  /// Stops the program unless every client got every event: whoever delivers less is not faster.
  func check() {
    for client in clients {
      precondition(
        client.calls == events, "\(contender.title): \(client.calls) of \(events) events arrived")
    }
  }
}
