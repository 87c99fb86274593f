import DequeModule
import Dispatch
import NIOConcurrencyHelpers
import NIOCore

/// What came in for one topic, on its way to the center. Each topic has a lane of its own, so that slow
/// handlers of one topic hold up no other.
///
/// The lane posts on a queue that is also the carriage's home for the topic. So the carriage hears at once
/// what has come in, and no thread is woken for it.
final class Lane: Sendable {
  /// After so many messages or bytes, a lane waits until the handlers have had them.
  static let window = (messages: 256, bytes: 1 << 20)
  /// But no longer than this: a handler may itself wait for what comes afterwards.
  static let patience = TimeAmount.seconds(2)

  private struct State {
    var waiting: Deque<Exchange.Delivery> = []
    var bytes = 0
    var posted = (messages: 0, bytes: 0)
    var isScheduled = false
    var hasEnded = false
    /// Since when the lane has waited for handlers.
    var waits: NIODeadline?
  }

  /// What is posted in one go.
  private struct Batch {
    var messages: [Exchange.Delivery] = []
    /// Whether the lane waits for the handlers of the last one.
    var isLast = false
  }

  private let queue: DispatchQueue
  private let limits: Carriage.Limits
  private let overflow: Overflow
  private let keepsLatest: Bool
  private let state = NIOLockedValueBox(State())
  private let post: @Sendable (ArraySlice<Exchange.Delivery>) -> Void
  private let postAndWait: @Sendable (Exchange.Delivery) async -> Void

  /// - Parameters:
  ///   - queue: A serial queue.
  ///   - post: Posts messages, on the queue.
  ///   - postAndWait: Posts a message, and returns when everybody has had it.
  init(
    on queue: DispatchQueue, limits: Carriage.Limits, overflow: Overflow, keepsLatest: Bool,
    post: @escaping @Sendable (ArraySlice<Exchange.Delivery>) -> Void,
    postAndWait: @escaping @Sendable (Exchange.Delivery) async -> Void
  ) {
    self.queue = queue
    self.limits = limits
    self.overflow = overflow
    self.keepsLatest = keepsLatest
    self.post = post
    self.postAndWait = postAndWait
  }

  /// Whether so much waits that no more shall be fetched.
  var isBusy: Bool {
    state.withLockedValue {
      $0.waiting.count > limits.waitingMessages / 2 || $0.bytes > limits.waitingBytes / 2
    }
  }

  /// Posts nothing any more.
  func end() { state.withLockedValue { ($0.hasEnded, $0.waiting, $0.bytes) = (true, [], 0) } }

  /// Takes messages. Returns how many were given up, of these or of those that waited.
  func add(_ messages: ArraySlice<Exchange.Delivery>) -> Int {
    let (dropped, schedules) = state.withLockedValue { state -> (Int, Bool) in
      guard !state.hasEnded, !messages.isEmpty else { return (0, false) }
      let dropped = messages.reduce(0) { $0 + add($1, to: &state) }
      defer { state.isScheduled = true }
      return (dropped, !state.isScheduled)
    }
    if schedules { queue.async { self.drain() } }
    return dropped
  }

  private func add(_ message: Exchange.Delivery, to state: inout State) -> Int {
    var dropped = 0
    func isFull(_ state: State) -> Bool {
      state.waiting.count >= limits.waitingMessages
        || (state.bytes + message.bytes > limits.waitingBytes && !state.waiting.isEmpty)
    }
    if keepsLatest {
      // The one that waits is no longer the latest, and nobody misses it.
      state.waiting.removeAll(keepingCapacity: true)
      state.bytes = 0
    } else if overflow == .dropNewest, isFull(state) {
      return 1
    }
    while isFull(state) {
      state.bytes -= state.waiting.removeFirst().bytes
      dropped += 1
    }
    state.waiting.append(message)
    state.bytes += message.bytes
    return dropped
  }

  private func drain() {
    while let batch = next() {
      guard batch.isLast, let last = batch.messages.last else {
        post(batch.messages[...])
        continue
      }
      post(batch.messages.dropLast())
      return wait(for: last)
    }
  }

  /// What waits, up to the end of the window.
  private func next() -> Batch? {
    state.withLockedValue { state in
      var batch = Batch()
      while !batch.isLast, let first = state.waiting.popFirst() {
        state.bytes -= first.bytes
        state.posted.messages += 1
        state.posted.bytes += first.bytes
        batch.isLast =
          state.posted.messages >= Lane.window.messages || state.posted.bytes >= Lane.window.bytes
        batch.messages.append(first)
      }
      if batch.isLast { state.posted = (0, 0) }
      state.isScheduled = !batch.messages.isEmpty
      return state.isScheduled ? batch : nil
    }
  }

  /// Goes on when everybody has had the message, or after a while.
  private func wait(for message: Exchange.Delivery) {
    Task {
      // Not before the task runs: the messages that follow shall not overtake this one.
      let start = NIODeadline.now()
      state.withLockedValue { $0.waits = start }
      await postAndWait(message)
      goOn { $0 == start }
    }
  }

  /// Waits no longer for handlers that take too long.
  func tick(at now: NIODeadline) { goOn { now - $0 > Lane.patience } }

  private func goOn(if isOver: (NIODeadline) -> Bool) {
    let goesOn = state.withLockedValue { state in
      guard let waits = state.waits, isOver(waits) else { return false }
      state.waits = nil
      return true
    }
    if goesOn { queue.async { self.drain() } }
  }
}
