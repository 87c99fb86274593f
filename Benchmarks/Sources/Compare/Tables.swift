import CAllocator
import Foundation
import Multicast
import Synchronization
import OtherSystems
import Systems

extension Lab {
  /// All tables, in the order in which they are printed.
  static let tables: [@Sendable (Lab) -> () -> Table?] = [
    { $0.delivery }, { $0.fixedCost }, { $0.membership }, { $0.memory }, { $0.threads },
    { $0.churn }, { $0.manyLists }, { $0.million },
    { lab in { lab.late(to: "a serial queue", LateContenders.toQueue) } },
    { lab in { lab.late(to: "the main actor", LateContenders.toMainActor) } },
    { lab in { lab.late(to: "streams", LateContenders.toStreams) } },
  ]

  static let deliveryTitle = "Time per delivery"

  /// The comparison: every system, at every number of clients.
  private func delivery() -> Table? {
    let counts = [0, 1, 8, 100, 1_000, 10_000]
    return table(
      Self.deliveryTitle, "nanoseconds, and × Multicast's", columns: counts.map(grouped),
      rows: Contenders.all, named: \.title, baseline: Contenders.multicast.title,
      note: "With 0 clients: time per event, which reaches nobody."
    ) { contenders in
      counts.map { count in
        // Each system has clients of its own. Those of a strong loop have no weak references, which
        // would make every retain and release dearer.
        byTurns(
          contenders.map { Trial($0, clientCount: count) }, operations: max(1, count))
      }
    }
  }

  /// What a notify costs beyond its deliveries.
  private func fixedCost() -> Table? {
    table(
      "Fixed cost of a notify", "nanoseconds: best (median)",
      columns: ["no client", "1 client", "each further", "fixed", "in locks"],
      rows: [
        Contenders.multicast, Contenders.multicastOpaque, Contenders.delegate, Contenders.topic,
        Contenders.post, Contenders.postAtHome, Contenders.lock,
      ], named: \.title, baseline: Contenders.lock.title, showsRatios: false,
      note: "Fixed: the time with 1 client, less that of a further one."
    ) { contenders in
      // The lock, which comes last, has no clients.
      let trials = [0, 1, 101].flatMap { count in
        contenders.dropLast().map { Trial($0, clientCount: count) }
          + [Trial(Contenders.lock, clientCount: 0)]
      }
      let columns = byTurns(trials, rounds: 2 * rounds).columns(3)
      let lock = columns[0].last
      let further = zip(columns[1], columns[2]).map { one, many in (many.best - one.best) / 100 }
      let fixed = zip(columns[1], further).map { one, further in one.best - further }
      let inLocks = fixed.map { $0 / (lock?.best ?? .nan) }
      let computed = [further, fixed, inLocks].map { $0.map { Measurement(exactly: $0) } }
      return [columns[0]] + ([columns[1]] + computed).map { $0.dropLast() + [nil] }
    }
  }

  /// Whether a list holds to a million clients.
  private func million() -> Table? {
    table(
      "Time per delivery to a million clients", "nanoseconds: best (median)",
      columns: ["1,000", "1,000,000", "growth", "1,000,000 scattered", "growth"],
      rows: [
        Contenders.strongLoop, Contenders.weakLoop, Contenders.multicast,
        Contenders.multicastOpaque,
      ], named: \.title,
      note: """
        Scattered: the clients stand in the list in another order than in memory, so that none of
        them is in a cache when its turn comes. What the strong loop loses by that, all lose.
        """
    ) { contenders in
      func measure(_ count: Int, scattered: Bool) -> [Measurement] {
        byTurns(
          contenders.map { Trial($0, clientCount: count, scattered: scattered) },
          operations: count, rounds: max(3, rounds / 2))
      }
      let few = measure(1_000, scattered: false)
      func growth(_ many: [Measurement]) -> [Measurement] {
        zip(many, few).map { Measurement(exactly: $0.best / $1.best) }
      }
      let many = measure(1_000_000, scattered: false)
      let scattered = measure(1_000_000, scattered: true)
      return [few, many, growth(many), scattered, growth(scattered)]
    }
  }

  /// What it takes to call handlers elsewhere, from another thread.
  private func late(to home: String, _ contenders: [Contender<Recipient>]) -> Table? {
    let counts = [1, 16, 256]
    return table(
      "Late delivery to \(home)", "nanoseconds per message and handler, and × the first row's",
      columns: counts.map { $0 == 1 ? "1 handler" : "\($0) handlers" }, rows: contenders,
      named: \.title, baseline: contenders[0].title,
      note: "From another thread, until the last handler has had the last message."
    ) { contenders in
      onAnotherThread {
        counts.map { count in
          // Longer than elsewhere: to wake a thread, once, is not to count.
          byTurns(
            contenders.map { Trial($0, recipientCount: count) }, operations: count, time: 4)
        }
      }
    }
  }

  /// Whether the number of listener protocols in a center matters to a notify of one.
  private func manyLists() -> Table? {
    let counts = [1, 100, 1_000, 10_000]
    return table(
      "Notify, with many listener protocols in one center", "nanoseconds: best (median)",
      columns: counts.map { grouped($0) + ($0 == 1 ? " protocol" : " protocols") },
      rows: ["Multicast notify, 1 client each"], named: \.self,
      note: """
        The protocols are notified by turns. They are made at run time, so none of this code is
        specialised for them, and each look-up, list and client comes from far away in memory.
        """
    ) { _ in
      let samplers = counts.map { count in
        var generator = SeededGenerator()
        let keys = NumberedKey.make(count, in: MulticastCenter()).shuffled(using: &generator)
        return repeating { events in
          var next = 0
          for event in 0..<events {
            keys[next].notify(event)
            next = next + 1 == keys.count ? 0 : next + 1
          }
        }
      }
      return byTurns(samplers).map { [$0] }
    }
  }

  /// All that one registration takes, with what the runtime allocates for an object that is referred to weakly. The
  /// objects themselves were there before.
  private func memory() -> Table? {
    // Each client has one registration, so batches are the same as single events.
    let contenders = (Contenders.all + [Contenders.postAtHome]).filter {
      !$0.title.contains("forEach") && !$0.title.contains("userInfo")
    }
    guard allocator_bytes_in_use() > 0 else { return nil }
    return table(
      "Memory per registration", "bytes, as the allocator counts them",
      columns: listSizes.map { grouped($0) + " clients" }, rows: contenders, named: \.title
    ) { contenders in
      listSizes.map { count in
        let samplers = contenders.map { contender in
          {
            let clients = makeClients(count)
            let before = bytesInUse()
            let send = contender.make(clients)
            send(1)
            defer { extendLifetime((clients, send)) }
            return [(bytesInUse() - before) / Double(count)]
          }
        }
        // The median, because something that ended before may give back its memory meanwhile.
        return byTurns(samplers, rounds: 3).map { Measurement(exactly: $0.median) }
      }
    }
  }
}

/// The bytes that the process has allocated, with what the allocator adds to each piece.
private func bytesInUse() -> Double {
  var bytes = allocator_bytes_in_use()
  // Tasks that were told to end do so some time later, and give back their memory then.
  for _ in 0..<100 {
    Thread.sleep(forTimeInterval: 0.002)
    let later = allocator_bytes_in_use()
    if later == bytes { break }
    bytes = later
  }
  return Double(bytes)
}

/// Works on another thread. Meanwhile the main thread, which must call this, does the main actor's work.
private func onAnotherThread<Result: Sendable>(
  _ work: @escaping @Sendable () -> Result
) -> Result {
  let outcome = Mutex<Result?>(nil)
  Thread.detachNewThread {
    let result = work()
    outcome.withLock { $0 = result }
    // Wakes the main thread up.
    DispatchQueue.main.async {}
  }
  while true {
    if let result = outcome.withLock({ $0 }) { return result }
    _ = RunLoop.main.run(mode: .default, before: .distantFuture)
  }
}
