import Dispatch
import Multicast
import Systems

/// Delivers a number of events to a number of clients and does nothing else, for callgrind. Two runs with different
/// numbers of events differ only in these deliveries. It does not link Foundation, which valgrind cannot read.
@main
enum Probe {
  // `async`, because the limits in `counts` were set with this stack and heap: the addresses of objects decide about collisions
  // in the index of a list, which are 4 % of an `add`.
  @MainActor static func main() async {
    let arguments = CommandLine.arguments
    if arguments.count == 4, let cost = Cost(rawValue: arguments[1]), let events = Int(arguments[3])
    {
      return cost.run(events)
    }
    guard arguments.count == 4, let clientCount = Int(arguments[2]), let events = Int(arguments[3]),
      let contender = (Contender.basic + [.post]).first(where: { $0.title == arguments[1] })
    else { fatalError("usage: Probe ROW CLIENTS EVENTS") }
    let clients = makeClients(clientCount)
    contender.make(clients)(events)
    // A row that delivers fewer events is not faster.
    precondition(clients.allSatisfy { $0.calls == events }, "not every event arrived")
  }
}

/// The operations that are counted without a comparison: posts with one client or handler in different homes, and adds.
enum Cost: String {
  case postHere = "post, 1 client here"
  case topicHere = "topic, 1 handler here"
  case postInMain = "post, at home in the main actor"
  case topicInMain = "topic, at home in the main actor"
  case postOnQueue = "post, at home on a queue"
  case topicOnQueue = "topic, at home on a queue"
  case latePost = "post, late on a queue"
  case lateTopic = "topic, late on a queue"
  case keptHere = "kept topic, 1 handler here"
  case lateKept = "kept topic, late on a queue"
  case async = "queue.async"
  case add = "add, outside actors"
  case addInMain = "add, in the main actor"
  case addOnQueue = "add, on a queue"

  @MainActor
  func run(_ events: Int) {
    let center = MulticastCenter()
    let queue = DispatchQueue(label: "home")
    let client = Counted()
    switch self {
    case .postHere, .postInMain, .postOnQueue, .latePost:
      switch self {
      case .postHere: center.add(client, for: CountedProtocol.self, isolation: nil)
      case .postInMain: center.add(client, for: CountedProtocol.self, isolation: MainActor.shared)
      default: center.add(client, for: CountedProtocol.self, on: queue)
      }
      Self.perform(events, self == .latePost ? .late : self == .postOnQueue ? .home : .here, queue)
      { event in
        center.post(CountedProtocol.self) { $0.count(event) }
      }
    case .topicHere, .topicInMain, .topicOnQueue, .lateTopic:
      switch self {
      case .topicHere: Self.observe(center, client)
      case .topicInMain: center.observe(.event, owner: client, on: .main) { $0.count($1) }
      default: center.observe(.event, owner: client, on: queue) { $0.count($1) }
      }
      Self.perform(
        events, self == .lateTopic ? .late : self == .topicOnQueue ? .home : .here, queue
      ) {
        center.post(.event, $0)
      }
    case .keptHere, .lateKept:
      if self == .keptHere {
        Self.observe(center, client, .kept)
      } else {
        center.observe(.kept, owner: client, on: queue) { $0.count($1) }
      }
      Self.perform(events, self == .lateKept ? .late : .here, queue) { center.post(.kept, $0) }
    case .async:
      Self.perform(events, .late, queue) { _ in queue.async { client.count() } }
    case .add, .addInMain, .addOnQueue:
      let clients = (0..<events).map { _ in Counted() }
      // When the list doubles, a task asks the queue to search for deallocated clients. Whether that happens before the
      // end of the process depends on the threads, so the queue stays suspended. It is never released, because a
      // suspended queue that is deallocated stops the program.
      queue.suspend()
      _ = unsafe Unmanaged.passRetained(queue)
      for added in clients {
        switch self {
        case .add: center.add(added, for: CountedProtocol.self, isolation: nil)
        case .addInMain: center.add(added, for: CountedProtocol.self)
        default: center.add(added, for: CountedProtocol.self, on: queue)
        }
      }
      precondition(center[CountedProtocol.self].count == events, "not every client was added")
      return extendLifetime(clients)
    }
    precondition(client.calls == events, "not every event arrived")
  }

  private enum Moment { case here, home, late }

  /// Calls `body` for each event on this thread, on the queue that is the home, or on this thread while that queue is
  /// blocked.
  private static func perform(
    _ events: Int, _ moment: Moment, _ queue: DispatchQueue, _ body: @Sendable (Int) -> Void
  ) {
    switch moment {
    case .here: for event in 0..<events { body(event) }
    case .home: queue.sync { for event in 0..<events { body(event) } }
    case .late:
      // In batches. Otherwise, the number of drains would depend on the threads.
      for start in stride(from: 0, to: events, by: batch) {
        let gate = DispatchSemaphore(value: 0)
        queue.async { gate.wait() }
        for event in start..<min(start + batch, events) { body(event) }
        gate.signal()
        queue.sync {}
      }
    }
  }

  private static let batch = 50

  /// Outside actors, so the handler has no home.
  private nonisolated static func observe(
    _ center: MulticastCenter, _ client: Counted, _ topic: Topic<Int> = .event
  ) {
    center.observe(topic, owner: client) { $0.count($1) }
  }
}

private protocol CountedProtocol: AnyObject {
  func count(_ event: Int)
}

/// Called by one thread at a time, and read after all calls.
private final class Counted: CountedProtocol, @unchecked Sendable {
  private(set) var calls = 0

  func count() { calls += 1 }
  func count(_ event: Int) { calls += 1 }
}

extension Topic<Int> {
  fileprivate static var event: Self { Topic("event") }
  fileprivate static var kept: Self { Topic("kept", keepsLatest: true) }
}
