import Dispatch
import Multicast

extension Topic {
  /// Distinguishes the topic from all others, even if the types of two messages are nested and have one name.
  var key: String { "\(String(reflecting: Message.self)) \(name)" }
}

/// A topic that is carried, without the type of its messages.
struct Line: Sendable {
  /// The topic's key.
  let topic: String
  let log: Log
  /// The sender. It is a new one each time a topic is carried.
  let sender: Frame.Sender
  let version: UInt16
  let oldest: UInt16
  let start: Carriage.Start
  /// The `MessageCodec` of the topic.
  let codec: any Sendable
  let meters: Meters
  /// Decodes and posts the messages of one record, and returns when all handlers have run.
  let deliver: @Sendable (Carriage, Line, Frame) async -> Void
  /// Reads the latest message of the center. Returns a closure that publishes it, to call in the line's home; nil if there is none.
  let latest: @Sendable (Carriage, Line) -> (() -> Void)?
  let home = Home()
  let own = State()

  var type: String { log.type }

  /// The home of the line: here the carriage hears the topic's messages, sends them, and reads and posts those that
  /// come in. One home for all of that, so that no thread is woken in between.
  final class Home: TaskExecutor {
    // The target has as many threads as there are processors, and more only while handlers block. Without it, each
    // active topic would have a thread.
    let queue = DispatchQueue(label: "Carriage", target: .global())

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      // Safe, because the closure retains the executor, and runs the job once.
      queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  /// The mutable state of the line.
  final class State: Sendable {
    let latest = Locked(LatestRule())
    /// The position after the last record that was handled.
    let position = Locked<Position?>(nil)
    /// The epoch of the log, for which the next record is signed; nil before the first one.
    let epoch = Locked<UInt64?>(nil)
    /// The task that sends, or has sent.
    let sender = Locked<Task<Void, Never>?>(nil)
    /// The closures that end the line; nil after it has ended.
    private let ends = Locked<[@Sendable () -> Void]?>([])

    /// Calls a body when the line ends, or immediately if it has ended.
    func atEnd(_ body: @escaping @Sendable () -> Void) {
      if ends.withLock({ $0?.append(body) }) == nil { body() }
    }

    /// Ends the line. Returns false if it has ended before.
    @discardableResult
    func end() -> Bool {
      guard let ends = ends.withLock({ $0.take() }) else { return false }
      // The reader usually began last, so it ends first, and posts nothing after the latest message was removed.
      for end in ends.reversed() { end() }
      return true
    }
  }
}
