import Clients
import OpenCombine

/// A subject and a sink for each client.
final class SubjectSystem: System {
  private let subject = PassthroughSubject<Int, Never>()
  private let sinks: [AnyCancellable]

  init(clients: [any Client]) {
    sinks = clients.map { [subject] client in
      subject.sink { [weak client] number in client?.event(number) }
    }
  }

  func send(_ events: Int) {
    for event in 0..<events { subject.send(event) }
  }
}
