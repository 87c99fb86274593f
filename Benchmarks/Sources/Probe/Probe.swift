import Systems

/// Delivers a number of events to a number of clients and does nothing else, for callgrind. Two runs that differ
/// in the number of events differ in these deliveries alone. It links no Foundation, which valgrind cannot read.
@main
enum Probe {
  @MainActor static func main() async {
    let arguments = CommandLine.arguments
    if arguments.count == 4, let cost = Cost(rawValue: arguments[1]), let events = Int(arguments[3])
    {
      return await cost.run(events)
    }
    guard arguments.count == 4, let clientCount = Int(arguments[2]), let events = Int(arguments[3]),
      let contender = (Contender.basic + [.post]).first(where: { $0.title == arguments[1] })
    else { fatalError("usage: Probe ROW CLIENTS EVENTS") }
    let clients = makeClients(clientCount)
    contender.make(clients)(events)
    // Who delivers less is not faster.
    precondition(clients.allSatisfy { $0.calls == events }, "not every event arrived")
  }
}
