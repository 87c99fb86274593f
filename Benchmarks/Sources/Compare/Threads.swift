import Foundation
import Multicast
import OtherSystems
import Synchronization
import Systems

extension Lab {
  /// Whether two threads that notify get in each other's way.
  var threads: Table {
    Table(
      title: "Two threads that notify at the same time, 100 clients",
      unit: "nanoseconds per delivery of a thread: best (median)",
      columns: ["alone", "two, same key", "two, other key"], rows: duels.map(\.title),
      note: """
        Alone: one thread. Same key: both notify the same clients, whose reference counts and
        fields they share. Other key: each has clients of its own, in the same center.
        """
    ) {
      // Threads must be long at work compared with what it takes to start them.
      let events = max(1, Int(sampleTime / 10) / 100)
      let samplers = duels.map { duel in
        let (clients, others) = (makeClients(100), makeClients(100))
        let (send, sendOther) = duel.prepare(clients, others)
        func repeated(_ send: @escaping Send) -> @Sendable () -> Void {
          {
            for event in 0..<events { send(event) }
            extendLifetime((clients, others))
          }
        }
        let (one, other) = (repeated(send), repeated(sendOther))
        return {
          [together(one, {}), together(one, one), together(one, other)]
            .map { $0 / Double(events * 100) }
        }
      }
      return transposed(byTurns(samplers))
    }
  }

  /// What a notify costs while another thread adds and removes clients of the same list.
  var churn: Table {
    let counts = [100, 1_000, 10_000]
    return Table(
      title: "Notify while another thread adds and removes",
      unit: "nanoseconds per delivery or operation: best (median)",
      columns: counts.map { grouped($0) + " clients" },
      rows: [
        "Multicast notify, alone", "Multicast notify, disturbed",
        "Multicast add or remove, by the other thread",
      ]
    ) { counts.map { byTurns([disturbance(clientCount: $0)])[0] } }
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

private typealias Send = @Sendable (_ event: Int) -> Void

/// Registers two sets of clients under two keys of one center, and returns how to send an event to each.
private typealias Prepare =
  @Sendable (_ clients: [any Client], _ others: [any Client]) -> (Send, Send)

private let duels: [(title: String, prepare: Prepare)] = [
  (
    "Multicast notify",
    { clients, others in
      let center = MulticastCenter()
      for client in clients { center.add(client, for: (any BoundListener).self) }
      for other in others { center.add(other, for: (any Client).self) }
      return (
        { event in center.notify((any BoundListener).self) { $0.event(event) } },
        { event in center.notify((any Client).self) { $0.event(event) } }
      )
    }
  ),
  (
    "Multicast topic post",
    { clients, others in
      let (center, otherTopic) = (MulticastCenter(), Topic<Int>("other"))
      for client in clients { client.observe(.event, in: center) }
      for other in others { other.observe(otherTopic, in: center) }
      return ({ center.post(.event, $0) }, { center.post(otherTopic, $0) })
    }
  ),
  (
    "NotificationCenter",
    { clients, others in
      let (center, other) = (NotificationCenter(), Notification.Name("other"))
      for client in clients { _ = center.add(client) }
      for client in others { _ = center.add(client, for: other) }
      return (
        { _ in center.post(name: .event, object: nil) },
        { _ in center.post(name: other, object: nil) }
      )
    }
  ),
]

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
