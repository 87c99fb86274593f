import Clients
import Foundation
import Multicast
import Synchronization

extension Experiment {
  /// What a notify costs while another thread adds and removes clients of the same list.
  func churn() -> Table? {
    let title = "Notify while another thread adds and removes"
    let counts = [100, 1_000, 10_000]
    let alone = "Multicast notify, alone"
    let disturbed = "Multicast notify, disturbed"
    let operation = "Multicast add or remove, by the other thread"
    let titles = [alone, disturbed, operation].filter { selection.wants($0, of: title) }
    guard !titles.isEmpty else { return nil }
    let columns = counts.map { count in
      progress.show("\(title): \(Grouping.text(count)) clients")
      return Disturbance(clientCount: count).measure(effort)
    }
    let rows = [alone, disturbed, operation].enumerated().map { index, title in
      Table.Row(title: title, cells: columns.map { $0[index] })
    }
    return Table(
      title: title, unit: "nanoseconds per delivery or operation: best (median)",
      columns: counts.map { Grouping.text($0) + " clients" },
      rows: rows.filter { titles.contains($0.title) })
  }
}

/// A list that is notified by one thread and changed by another.
private struct Disturbance {
  private let center = MulticastCenter()
  private let clients: [any Client]

  /// Those who come and go.
  private let guests = Clients.make(64)

  init(clientCount: Int) {
    clients = Clients.make(clientCount)
    for client in clients { center.add(client, for: (any BoundListener).self) }
  }

  /// Time per delivery alone and disturbed, and per operation of the other thread.
  func measure(_ effort: Effort) -> [Measurement] {
    var samples: [[Double]] = [[], [], []]
    let events = max(1, Int(effort.sampleTime / 20) / clients.count)
    for _ in 0..<effort.rounds {
      samples[0].append(notify(events))
      let (delivery, operation) = notifyDisturbed(events)
      samples[1].append(delivery)
      samples[2].append(operation)
    }
    return samples.map { Measurement($0) }
  }

  private func notify(_ events: Int) -> Double {
    var called = 0
    let time = Stopwatch.measure {
      for event in 0..<events {
        called += center.notify((any BoundListener).self) { $0.event(event) }
      }
    }
    // Guests are counted, too: they are called.
    return time / Double(called)
  }

  private func notifyDisturbed(_ events: Int) -> (delivery: Double, operation: Double) {
    let visits = Visits()
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread { [center, guests] in
      while !visits.areOver {
        for guest in guests { center.add(guest, for: (any BoundListener).self) }
        for guest in guests { center.remove(guest, for: (any BoundListener).self) }
        visits.count(2 * guests.count)
      }
      ended.signal()
    }
    visits.waitForFirst()
    let before = visits.number
    var delivery = 0.0
    let time = Stopwatch.measure { delivery = notify(events) }
    let operations = visits.number - before
    visits.end()
    ended.wait()
    return (delivery, time / Double(max(1, operations)))
  }
}

/// What the other thread has done so far.
private final class Visits: Sendable {
  private let operations = Atomic<Int>(0)
  private let isOver = Atomic<Bool>(false)

  var areOver: Bool { isOver.load(ordering: .relaxed) }

  var number: Int { operations.load(ordering: .relaxed) }

  func count(_ more: Int) {
    operations.add(more, ordering: .relaxed)
  }

  func waitForFirst() {
    while number == 0 { sched_yield() }
  }

  func end() {
    isOver.store(true, ordering: .relaxed)
  }
}
