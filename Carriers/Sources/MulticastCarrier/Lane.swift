import DequeModule
import Dispatch
import NIOConcurrencyHelpers

/// What came in for one topic, on its way to the center. Each topic has a lane of its own, so that slow
/// handlers of one topic hold up no other.
final class Lane: Sendable {
  /// After so many messages or bytes, a lane waits until the handlers have had them.
  static let window = (messages: 64, bytes: 1 << 20)
  /// But no longer than this: a handler may itself wait for a later message of the same topic.
  static let patience = DispatchTimeInterval.seconds(2)

  private struct State {
    var waiting: Deque<Exchange.Delivery> = []
    var bytes = 0
  }

  private let limits: Carriage.Limits
  private let overflow: Overflow
  private let keepsLatest: Bool
  private let state = NIOLockedValueBox(State())
  private let signal: AsyncStream<Void>.Continuation
  private let task: Task<Void, Never>

  /// - Parameter post: Posts a message. Returns when everybody has had it, if it `waits`.
  init(
    limits: Carriage.Limits, overflow: Overflow, keepsLatest: Bool,
    post: @escaping @Sendable (Exchange.Delivery, _ waits: Bool) async -> Void
  ) {
    self.limits = limits
    self.overflow = overflow
    self.keepsLatest = keepsLatest
    let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.signal = signal
    let state = state
    task = Task {
      var posted = (messages: 0, bytes: 0)
      for await _ in signals {
        while !Task.isCancelled, let message = Lane.next(state) {
          posted.messages += 1
          posted.bytes += message.bytes
          if posted.messages < Lane.window.messages, posted.bytes < Lane.window.bytes {
            await post(message, false)
          } else {
            await Lane.patiently { await post(message, true) }
            posted = (0, 0)
          }
        }
      }
    }
  }

  deinit { end() }

  func end() {
    signal.finish()
    task.cancel()
  }

  /// Takes a message. Returns how many were given up for it, itself included.
  func add(_ message: Exchange.Delivery) -> Int {
    let dropped = state.withLockedValue { state -> Int in
      var dropped = 0
      func isFull() -> Bool {
        state.waiting.count >= limits.waitingMessages
          || (state.bytes + message.bytes > limits.waitingBytes && !state.waiting.isEmpty)
      }
      if keepsLatest {
        // The one that waits is no longer the latest, and nobody misses it.
        (state.waiting, state.bytes) = ([], 0)
      } else if isFull(), overflow == .dropNewest {
        return 1
      }
      while isFull() {
        state.bytes -= state.waiting.removeFirst().bytes
        dropped += 1
      }
      state.waiting.append(message)
      state.bytes += message.bytes
      return dropped
    }
    signal.yield()
    return dropped
  }

  private static func next(_ state: NIOLockedValueBox<State>) -> Exchange.Delivery? {
    state.withLockedValue { state in
      guard let first = state.waiting.popFirst() else { return nil }
      state.bytes -= first.bytes
      return first
    }
  }

  /// Waits for a body, for a while.
  private static func patiently(_ body: @escaping @Sendable () async -> Void) async {
    let (ends, end) = AsyncStream<Void>.makeStream()
    Task {
      await body()
      end.finish()
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + patience) { end.finish() }
    for await _ in ends {}
  }
}
