import Clients
import Multicast

/// Delivers a number of events to a number of clients and does nothing else, to be run under
/// callgrind.
///
/// Two runs that differ in the number of events alone differ in the deliveries alone.
@main
enum Probe {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count == 3, let name = arguments.first,
      let scenario = Scenario(rawValue: name)
    else { return usage() }
    let numbers = arguments.dropFirst().compactMap { Int($0) }.filter { $0 >= 0 }
    guard numbers.count == 2 else { return usage() }
    deliver(numbers[1], to: numbers[0], as: scenario)
  }

  private static func deliver(_ events: Int, to clientCount: Int, as scenario: Scenario) {
    let clients = Clients.make(clientCount)
    let sender = Sender(clients, scenario: scenario)
    sender.send(events)
    // Whoever delivers less is not faster.
    let calls = clients.reduce(0) { $0 + $1.calls }
    precondition(calls == events * clientCount, "\(calls) calls instead of \(events * clientCount)")
  }

  private static func usage() {
    print("usage: Probe \(Scenario.allCases.map(\.rawValue).joined(separator: "|")) CLIENTS EVENTS")
  }
}
