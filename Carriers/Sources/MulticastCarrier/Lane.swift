import DequeModule
import Dispatch
import Foundation
import NIOConcurrencyHelpers

/// What came in for one topic, on its way to the center. Each topic has a lane of its own, so that slow
/// handlers of one topic hold up no other.
///
/// The lane posts on a queue that is also the carriage's home for the topic. So the carriage hears at once
/// what has come in, and no thread is woken for it.
final class Lane: Sendable {
  /// After so many messages or bytes, a lane waits until the handlers have had them.
  static let window = (messages: 64, bytes: 1 << 20)
  /// In microseconds.
  static let moment: UInt32 = 100

  private struct State {
    var waiting: Deque<Exchange.Delivery> = []
    var bytes = 0
    var posted = (messages: 0, bytes: 0)
    var isScheduled = false
    var hasEnded = false
  }

  private enum Step { case post, wait }

  private let queue: DispatchQueue
  private let limits: Carriage.Limits
  private let overflow: Overflow
  private let keepsLatest: Bool
  private let state = NIOLockedValueBox(State())
  private let post: @Sendable (Exchange.Delivery) -> Void
  private let postAndWait: @Sendable (Exchange.Delivery) async -> Void

  /// - Parameters:
  ///   - queue: A serial queue.
  ///   - post: Posts a message, on the queue.
  ///   - postAndWait: Posts a message, and returns when everybody has had it.
  init(
    on queue: DispatchQueue, limits: Carriage.Limits, overflow: Overflow, keepsLatest: Bool,
    post: @escaping @Sendable (Exchange.Delivery) -> Void,
    postAndWait: @escaping @Sendable (Exchange.Delivery) async -> Void
  ) {
    self.queue = queue
    self.limits = limits
    self.overflow = overflow
    self.keepsLatest = keepsLatest
    self.post = post
    self.postAndWait = postAndWait
  }

  /// Posts nothing any more.
  func end() { state.withLockedValue { ($0.hasEnded, $0.waiting, $0.bytes) = (true, [], 0) } }

  /// Takes a message. Returns how many were given up for it, itself included.
  func add(_ message: Exchange.Delivery) -> Int {
    let (dropped, schedules) = state.withLockedValue { state -> (Int, Bool) in
      guard !state.hasEnded else { return (0, false) }
      var dropped = 0
      func isFull() -> Bool {
        state.waiting.count >= limits.waitingMessages
          || (state.bytes + message.bytes > limits.waitingBytes && !state.waiting.isEmpty)
      }
      if keepsLatest {
        // The one that waits is no longer the latest, and nobody misses it.
        state.waiting.removeAll(keepingCapacity: true)
        state.bytes = 0
      } else if isFull(), overflow == .dropNewest {
        return (1, false)
      }
      while isFull() {
        state.bytes -= state.waiting.removeFirst().bytes
        dropped += 1
      }
      state.waiting.append(message)
      state.bytes += message.bytes
      defer { state.isScheduled = true }
      return (dropped, !state.isScheduled)
    }
    if schedules { queue.async { self.drain() } }
    return dropped
  }

  private func drain() {
    repeat {
      var count = 0
      while let (message, step) = next() {
        count += 1
        switch step {
        case .post: post(message)
        case .wait: return wait(for: message)
        }
      }
      // Many come in a burst. To wait a moment for the next costs less than to be woken for it.
      if count > 1 { usleep(Lane.moment) }
    } while hasMore()
  }

  private func hasMore() -> Bool {
    state.withLockedValue { state in
      state.isScheduled = !state.waiting.isEmpty
      return state.isScheduled
    }
  }

  private func next() -> (Exchange.Delivery, Step)? {
    state.withLockedValue { state in
      guard let first = state.waiting.popFirst() else { return nil }
      state.bytes -= first.bytes
      state.posted.messages += 1
      state.posted.bytes += first.bytes
      if state.posted.messages < Lane.window.messages, state.posted.bytes < Lane.window.bytes {
        return (first, .post)
      }
      state.posted = (0, 0)
      return (first, .wait)
    }
  }

  /// Goes on when everybody has had the message, or after a while.
  private func wait(for message: Exchange.Delivery) {
    Task {
      await patiently { await self.postAndWait(message) }
      self.queue.async { self.drain() }
    }
  }
}

/// Waits for a body, for a while: it may itself wait for what comes afterwards.
func patiently(_ body: @escaping @Sendable () async -> Void) async {
  let (ends, end) = AsyncStream<Void>.makeStream()
  Task {
    await body()
    end.finish()
  }
  DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(2)) { end.finish() }
  // Not ended by a cancellation of this task.
  await Task { for await _ in ends {} }.value
}
