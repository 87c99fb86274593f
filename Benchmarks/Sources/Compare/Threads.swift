import Foundation
import Multicast
import Synchronization
import OtherSystems
import Systems

extension Lab {
  /// Whether two threads that notify get in each other's way.
  func threads() -> Table? {
    table(
      "Two threads that notify at the same time, 100 clients",
      "nanoseconds per delivery of a thread: best (median)",
      columns: ["alone", "two, same key", "two, other key"], rows: Duel.all, named: \.title,
      note: """
        Alone: one thread. Same key: both notify the same clients, whose reference counts and
        fields they share. Other key: each has clients of its own, in the same center.
        """
    ) { duels in
      // Threads must be long at work compared with what it takes to start them.
      let events = max(1, Int(sampleTime / 10) / 100)
      let pairs = duels.map { duel in
        let (clients, others) = (makeClients(100), makeClients(100))
        let (send, sendOther) = duel.prepare(clients, others)
        return (
          { @Sendable in
            send(events)
            extendLifetime(clients)
          },
          { @Sendable in
            sendOther(events)
            extendLifetime(others)
          }
        )
      }
      let samplers =
        pairs.map { one, _ in { together(one, {}) } }
        + pairs.map { one, _ in { together(one, one) } }
        + pairs.map { one, other in { together(one, other) } }
      return byTurns(samplers.map { time in { [time() / Double(events * 100)] } }).columns(3)
    }
  }

  /// What a notify costs while another thread adds and removes clients of the same list.
  func churn() -> Table? {
    let counts = [100, 1_000, 10_000]
    let rows = ["notify, alone", "notify, disturbed", "add or remove, by the other thread"]
    return table(
      "Notify while another thread adds and removes",
      "nanoseconds per delivery or operation: best (median)",
      columns: counts.map { grouped($0) + " clients" }, rows: Array(rows.enumerated()),
      named: { "Multicast " + $0.element }
    ) { wanted in
      counts.map { count in
        let measurements = byTurns([disturbance(clientCount: count)])
        return wanted.map { measurements[$0.offset] }
      }
    }
  }

  /// Samples the time per delivery alone and disturbed, and per operation of the other thread.
  private func disturbance(clientCount: Int) -> Sampler {
    let (clients, guests) = (makeClients(clientCount), makeClients(64))
    let listener = (any BoundListener).self
    let center = MulticastCenter()
    for client in clients { center.add(client, for: listener) }
    let events = max(1, Int(sampleTime / 20) / clientCount)
    func notify() -> Double {
      var called = 0
      let time = stopwatch {
        for event in 0..<events { called += center.notify(listener) { $0.event(event) } }
      }
      // Guests are counted, too: they are called.
      return time / Double(called)
    }
    return {
      let alone = notify()
      let operations = Atomic<Int>(0)
      let isOver = Atomic<Bool>(false)
      let ended = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        while !isOver.load(ordering: .relaxed) {
          for guest in guests { center.add(guest, for: listener) }
          for guest in guests { center.remove(guest, for: listener) }
          operations.add(2 * guests.count, ordering: .relaxed)
        }
        ended.signal()
      }
      while operations.load(ordering: .relaxed) == 0 { sched_yield() }
      let before = operations.load(ordering: .relaxed)
      var disturbed = 0.0
      let time = stopwatch { disturbed = notify() }
      let operation = time / Double(max(1, operations.load(ordering: .relaxed) - before))
      isOver.store(true, ordering: .relaxed)
      ended.wait()
      extendLifetime(clients)
      return [alone, disturbed, operation]
    }
  }
}

/// Two sets of clients in one center.
private struct Duel: Sendable {
  typealias Send = @Sendable (_ events: Int) -> Void

  let title: String

  /// Registers the clients under two keys, and returns how to send events to each.
  let prepare: @Sendable (_ clients: [any Client], _ others: [any Client]) -> (Send, Send)

  static let all = [
    Duel(title: "Multicast notify") { clients, others in
      let center = MulticastCenter()
      for client in clients { center.add(client, for: (any BoundListener).self) }
      for other in others { center.add(other, for: (any OtherListener).self) }
      return (
        { for event in 0..<$0 { center.notify((any BoundListener).self) { $0.event(event) } } },
        { for event in 0..<$0 { center.notify((any OtherListener).self) { $0.otherEvent(event) } } }
      )
    },
    Duel(title: "Multicast topic post") { clients, others in
      let center = MulticastCenter()
      let otherTopic = Topic<Int>("other")
      for client in clients { client.observe(.event, in: center) }
      for other in others { other.observe(otherTopic, in: center) }
      return (
        { for event in 0..<$0 { center.post(.event, event) } },
        { for event in 0..<$0 { center.post(otherTopic, event) } }
      )
    },
    Duel(title: "NotificationCenter") { clients, others in
      let center = NotificationCenter()
      func send(to clients: [any Client], _ name: Notification.Name) -> Send {
        for client in clients {
          _ = center.addObserver(forName: name, object: nil, queue: nil) { [weak client] _ in
            client?.event(1)
          }
        }
        return { for _ in 0..<$0 { center.post(name: name, object: nil) } }
      }
      return (send(to: clients, .event), send(to: others, Notification.Name("other")))
    },
  ]
}

/// Runs both on threads of their own that begin at the same moment, and returns the nanoseconds that the slower
/// one took. Each measures itself: a third thread may be late to see them begin.
private func together(
  _ first: @escaping @Sendable () -> Void, _ second: @escaping @Sendable () -> Void
) -> Double {
  let arrived = Atomic<Int>(0)
  let slowest = Mutex(0.0)
  let ended = DispatchGroup()
  for work in [first, second] {
    ended.enter()
    Thread.detachNewThread {
      arrived.add(1, ordering: .acquiringAndReleasing)
      // Somebody else may have the processor that the other thread needs.
      while arrived.load(ordering: .acquiring) < 2 { sched_yield() }
      let time = stopwatch(work)
      slowest.withLock { $0 = max($0, time) }
      ended.leave()
    }
  }
  ended.wait()
  return slowest.withLock { $0 }
}
