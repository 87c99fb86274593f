import Clients
import Systems

extension Experiment {
  /// What it takes to call handlers on a queue, from another thread.
  func lateOnQueue() -> Table? {
    late(to: "a serial queue", LateContender.toQueue)
  }

  /// What it takes to call handlers in the main actor, from another thread.
  func lateInMainActor() -> Table? {
    late(to: "the main actor", LateContender.toMainActor)
  }

  /// What it takes to reach tasks that iterate over streams.
  func lateInStreams() -> Table? {
    late(to: "streams", LateContender.toStreams)
  }

  private func late(to home: String, _ contenders: [LateContender]) -> Table? {
    let title = "Late delivery to \(home)"
    let baseline = contenders[0].title
    guard contenders.contains(where: { selection.wants($0.title, of: title) }) else { return nil }
    let measured = contenders.filter {
      $0.title == baseline || selection.wants($0.title, of: title)
    }
    let counts = [1, 16, 256]
    let columns = counts.map { count in
      progress.show("\(title): \(count) handlers")
      return OtherThread.run { measure(measured, handlerCount: count) }
    }
    return Table(
      title: title, unit: "nanoseconds per message and handler, and × the first row's",
      columns: counts.map { $0 == 1 ? "1 handler" : "\($0) handlers" },
      rows: measured.indices.map { row in
        Table.Row(title: measured[row].title, cells: columns.map { $0[row] })
      },
      baseline: baseline,
      note: "From another thread, until the last handler has had the last message.")
  }

  private func measure(_ contenders: [LateContender], handlerCount: Int) -> [Measurement] {
    let trials = contenders.map { LateTrial($0, recipientCount: handlerCount) }
    // Longer than elsewhere: to wake a thread, once, is not to count.
    let effort = Effort(
      rounds: effort.rounds, sampleTime: 4 * effort.sampleTime,
      membershipCounts: effort.membershipCounts)
    let contestants = trials.map { trial in
      Contestant(trial.title, effort: effort, operations: handlerCount, run: trial.send)
    }
    let measurements = contestants.measure(rounds: effort.rounds)
    for trial in trials { trial.check() }
    return measurements
  }
}

/// A system and its recipients.
private final class LateTrial {
  let title: String
  private let arrival = Arrival()
  private let recipients: [Recipient]
  private let tell: LateContender.Tell
  private var messages = 0

  init(_ contender: LateContender, recipientCount: Int) {
    title = contender.title
    recipients = (0..<recipientCount).map { [arrival] _ in Recipient(arrival) }
    tell = contender.make(recipients)
  }

  /// Sends messages, and returns when the last recipient had the last one.
  func send(_ count: Int) {
    arrival.expect(recipients.count)
    for number in (0..<count).reversed() { tell(number) }
    arrival.wait()
    messages += count
  }

  /// Stops the program unless every recipient got every message.
  func check() {
    for recipient in recipients {
      precondition(
        recipient.calls == messages, "\(title): \(recipient.calls) of \(messages) messages arrived")
    }
  }
}
