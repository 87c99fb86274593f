extension MulticastCenter {
  /// Returns the messages of a topic as a sequence for `for await`.
  ///
  /// <!-- example: in Observer -->
  /// ```swift
  /// for await login in center.messages(of: .userLogin) {
  ///   show(login)
  /// }
  /// ```
  ///
  /// The stream collects messages from this call on, in the order of the posts. It begins with the latest
  /// message if the topic keeps one. If a task loops over it, call this before you start the task: inside the
  /// task, it misses what is posted before the task runs. Use one loop for each stream, because two loops share
  /// its messages.
  ///
  /// The loop ends, after the messages that wait, when its task is cancelled, when the topic's handlers are removed, and when
  /// the center is deallocated and no post to the topic waits, in a home or as a ``Posted`` in a variable. The stream does not
  /// keep the center alive. It receives messages until its task is cancelled or nothing retains it. A variable that holds the
  /// stream after the loop keeps it registered.
  ///
  /// A task whose loop uses `self` keeps that object alive until the loop ends. Capture `[weak self]` and cancel
  /// the task in `deinit`, or observe the topic instead.
  ///
  /// By default, the stream keeps every message until its loop takes it. A debug build prints a warning once if
  /// 10,000 are unread. ``Wiring/Group/unread`` and ``Wiring/Group/dropped`` count the messages of each stream.
  ///
  /// You may call this on any thread.
  ///
  /// - Parameters:
  ///   - topic: The topic. It does not have to have handlers.
  ///   - policy: Which messages the stream keeps for its loop.
  ///   - fileID: The file of the call site, for reports and ``wiring``. In a wrapper, pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  /// - Returns: A stream for one loop.
  /// - Complexity: Amortized O(1). O(*n*) for *n* handlers if a delivery that has begun since a handler was last added
  ///   still uses their list, as the latest message of a topic does.
  public func messages<Message>(
    of topic: Topic<Message>,
    buffering policy: AsyncStream<Message>.Continuation.BufferingPolicy = .unbounded,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> AsyncStream<Message> {
    let limit = policy.limit
    // An unbounded stream does not say how many messages it holds. A stream with a limit says how many more it has room for.
    let (stream, continuation) = AsyncStream.makeStream(
      of: Message.self, bufferingPolicy: limit == .max ? .bufferingOldest(.max) : policy)
    let subscription = TopicSubscription<Message>(limit: limit)
    let end = MessagesEnd(continuation)
    let site = CallSite(fileID: fileID, line: line, column: column)
    let observation = observe(
      topic, owner: subscription, fileID: fileID, line: line, column: column
    ) { subscription, message in
      subscription.note(end.continuation.yield(message))
      subscription.hintAtUnread(of: topic, from: site)
    }
    // The stream keeps the subscription until it is released or its task is cancelled.
    continuation.onTermination = { [subscription] _ in
      observation.cancel()
      extendLifetime(subscription)
    }
    return stream
  }
}

/// The owner of a stream's registration for a topic. It counts the messages that the stream holds and has dropped.
final class TopicSubscription<Message: Sendable>: StreamOwner, Sendable {
  package static var shownType: any Any.Type { AsyncStream<Message>.self }

  let state = Locked(StreamState())

  var messages: StreamState { state.withLock { $0 } }

  /// The number of messages that the stream can hold.
  let limit: Int

  init(limit: Int) { self.limit = limit }

  /// Notes what the stream has done with a message.
  ///
  /// Only a post can ask the stream how many messages it holds, so the number is that of the latest message. Reads are not
  /// noticed, because no code runs between an `AsyncStream` and its loop. If several threads post at the same time, the answer to
  /// one of them may be noted after a later one: the stream is called without the lock, because it may resume the loop's task.
  func note(_ result: AsyncStream<Message>.Continuation.YieldResult) {
    state.withLock { state in
      switch result {
      // A policy with a negative limit has a negative rest.
      case .enqueued(let remaining): state.unread = max(0, limit - max(0, remaining))
      case .dropped:
        state.unread = limit
        state.dropped += 1
      case .terminated: break
      @unknown default: break
      }
    }
  }
}

/// The owner of a stream's registration for a topic, for any message type.
protocol StreamOwner: LibraryOwner {
  var messages: StreamState { get }
}

/// What is known of the messages of a stream.
struct StreamState: Sendable {
  /// The number of messages that the stream held when it received the latest one.
  var unread = 0

  var dropped = 0

  /// Whether a debug build has printed that many messages are unread.
  var isReported = false
}

extension AsyncStream.Continuation.BufferingPolicy {
  /// The number of messages that a stream can hold; `Int.max` if it is not limited.
  fileprivate var limit: Int {
    switch self {
    case .unbounded: .max
    case .bufferingOldest(let limit), .bufferingNewest(let limit): max(0, limit)
    @unknown default: .max
    }
  }
}

/// Finishes a stream when the handler that captures this is released.
private final class MessagesEnd<Message: Sendable>: Sendable {
  let continuation: AsyncStream<Message>.Continuation

  init(_ continuation: AsyncStream<Message>.Continuation) {
    self.continuation = continuation
  }

  deinit { continuation.finish() }
}
