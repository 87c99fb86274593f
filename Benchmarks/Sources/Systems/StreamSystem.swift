import Clients
import Dispatch
import Synchronization

/// A stream and a task for each client.
///
/// Events are sent in bursts, and waited for after each: to wait after each event would measure how
/// tasks are woken, which nobody who uses streams does for every event.
final class StreamSystem: System {
  /// What is left to be delivered of a burst.
  private final class Burst: Sendable {
    private let outstanding = Atomic<Int>(0)
    private let done = DispatchSemaphore(value: 0)

    func begin(deliveries: Int) {
      outstanding.store(deliveries, ordering: .relaxed)
    }

    func delivered() {
      if outstanding.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.signal() }
    }

    func wait() {
      done.wait()
    }
  }

  private let continuations: [AsyncStream<Int>.Continuation]
  private let burst = Burst()

  init(clients: [any Client]) {
    continuations = clients.map { [burst] client in
      let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
      Task.detached { [weak client] in
        for await number in stream {
          client?.event(number)
          burst.delivered()
        }
      }
      return continuation
    }
  }

  deinit {
    for continuation in continuations { continuation.finish() }
  }

  /// As many events as a batch has, or fewer, so that a burst stays below 10,000 deliveries.
  static func burst(for clients: Int) -> Int {
    max(1, min(Batch.size, 10_000 / max(clients, 1)))
  }

  func send(_ events: Int) {
    let size = Self.burst(for: continuations.count)
    for first in stride(from: 0, to: events, by: size) {
      let events = first..<min(first + size, events)
      burst.begin(deliveries: events.count * continuations.count)
      for event in events { tell(event) }
      if !continuations.isEmpty { burst.wait() }
    }
  }

  // Not inlined, for the same reason as the strong loop's.
  @inline(never)
  private func tell(_ event: Int) {
    for continuation in continuations { continuation.yield(event) }
  }
}
