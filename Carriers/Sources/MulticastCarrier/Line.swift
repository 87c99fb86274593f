import Dispatch

/// A topic that is carried, without the type of its messages.
struct Line: Sendable {
  let topic: String
  let log: Log
  /// Another one each time that a topic is carried.
  let sender: Frame.Sender
  let version: UInt16
  let oldest: UInt16
  let start: Carriage.Start
  /// The `MessageCodec` of the topic.
  let codec: any Sendable
  /// Decodes and posts what one record has brought, and returns when all handlers have run.
  let deliver: @Sendable (Carriage, Line, Frame) async -> Void
  /// Publishes the latest message that the center has. At home.
  let publishLatest: @Sendable (Carriage, Line) -> Void
  let home = Home()
  let own = State()

  var type: String { log.type }

  /// Where the carriage hears what is posted to the topic, sends it, and reads and posts what comes in. So nobody is woken
  /// between these.
  final class Home: TaskExecutor {
    // Its target has as many threads as there are processors, and more only while handlers block. Without it, each topic
    // that speaks has a thread.
    let queue = DispatchQueue(label: "Carriage", target: .global())

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      // Safe: the closure holds the executor, and runs the job once.
      queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  /// What changes.
  final class State: Sendable {
    let latest = Locked(LatestRule())
    /// Behind the last record that was handled.
    let position = Locked<Position?>(nil)
    /// What ends the line; nil when it has ended.
    private let ends = Locked<[@Sendable () -> Void]?>([])

    /// Calls a body when the line ends, at once if it has ended.
    func atEnd(_ body: @escaping @Sendable () -> Void) {
      if ends.withLock({ $0?.append(body) }) == nil { body() }
    }

    func end() { ends.withLock { $0.take() }?.forEach { $0() } }
  }
}
