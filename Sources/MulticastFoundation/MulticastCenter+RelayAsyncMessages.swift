import Foundation
import Multicast

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension MulticastCenter {
  /// Calls the clients of a listener protocol whenever an asynchronous typed message of any subject is
  /// posted.
  ///
  /// <!-- example: in BridgeMessages -->
  /// ```swift
  /// center.relay(
  ///   UploadDidProgress.self, to: UploadProtocol.self
  /// ) { client, message in
  ///   client.uploadDidProgress(message.fraction)
  /// }
  /// ```
  ///
  /// Foundation passes these messages to a task after they are posted. Then the relay posts, in the order of
  /// one thread's messages. It relays the messages of all subjects, because a subject may be deallocated by
  /// then.
  ///
  /// A loop through such a message is not found. After ``NotificationRelay/cancel()``, messages that wait are
  /// not delivered. Otherwise it does the same as a relay of notifications.
  ///
  /// - Parameters:
  ///   - message: The type of the message.
  ///   - source: The `NotificationCenter` that posts the message.
  ///   - listener: The protocol.
  ///   - fileID: The file of the call site, for reports. In a wrapper, pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Receives each client with the message. It names no actor, or the main
  ///     actor; a body of another actor stops the program.
  /// - Returns: A token that can end the relay. You can ignore it.
  /// - Complexity: That of `post` and of waking a task.
  @discardableResult
  public func relay<Message: NotificationCenter.AsyncMessage, Listener>(
    _ message: Message.Type, from source: NotificationCenter = .default,
    to listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener, Message) -> Void
  ) -> NotificationRelay {
    let body = RelayBody(
      body.isolation, fileID, line, column, IsolatedBody(function: body).callable)
    return relay(message, from: source) { center, message in
      body.post(message, to: center)
      return true
    }
  }

  /// Posts a message to a topic whenever an asynchronous typed message of any subject is posted.
  ///
  /// <!-- example: in BridgeMessages -->
  /// ```swift
  /// center.relay(
  ///   UploadDidProgress.self, to: Topic<Double>("upload")
  /// ) { $0.fraction }
  /// ```
  ///
  /// `transform` runs in a task. If it returns nil, the relay drops the message. Otherwise it does the same
  /// as a relay to clients.
  ///
  /// - Parameters:
  ///   - message: The type of the message.
  ///   - source: The `NotificationCenter` that posts the message.
  ///   - topic: The topic.
  ///   - fileID: The file of the call site, for reports. In a wrapper, pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Returns the message to post; nil for none.
  /// - Returns: A token that can end the relay. You can ignore it.
  /// - Complexity: That of `post` and of waking a task.
  @discardableResult
  public func relay<Message: NotificationCenter.AsyncMessage, Value>(
    _ message: Message.Type, from source: NotificationCenter = .default,
    to topic: Topic<Value>,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ transform: @escaping @Sendable (Message) -> Value?
  ) -> NotificationRelay {
    relay(message, from: source) { center, message in
      guard let value = transform(message) else { return false }
      center.post(topic, value, fileID: fileID, line: line, column: column)
      return true
    }
  }

  /// Calls the clients of a listener protocol whenever an asynchronous typed message of one subject is
  /// posted.
  ///
  /// The relay neither retains the subject nor ends with it. Keep the subject alive until you cancel the relay:
  /// Foundation compares addresses, so a relay that you do not cancel would relay the messages of a later object
  /// at the same address. Otherwise it does the same as a relay of the messages of all subjects.
  ///
  /// - Parameters:
  ///   - message: The type of the message.
  ///   - source: The `NotificationCenter` that posts the message.
  ///   - subject: The subject whose messages are relayed.
  ///   - listener: The protocol.
  ///   - fileID: The file of the call site, for reports. In a wrapper, pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Receives each client with the message. It names no actor, or the main
  ///     actor; a body of another actor stops the program.
  /// - Returns: A token that can end the relay. You can ignore it.
  /// - Complexity: That of `post` and of waking a task.
  @discardableResult
  public func relay<Message: NotificationCenter.AsyncMessage, Listener>(
    _ message: Message.Type, from source: NotificationCenter = .default,
    of subject: Message.Subject, to listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener, Message) -> Void
  ) -> NotificationRelay where Message.Subject: AnyObject {
    let body = RelayBody(
      body.isolation, fileID, line, column, IsolatedBody(function: body).callable)
    return relay(message, from: source, of: subject) { center, message in
      body.post(message, to: center)
      return true
    }
  }

  /// Posts a message to a topic whenever an asynchronous typed message of one subject is posted.
  ///
  /// `transform` runs in a task. If it returns nil, the relay drops the message. Otherwise it does the same
  /// as a relay to clients.
  ///
  /// - Parameters:
  ///   - message: The type of the message.
  ///   - source: The `NotificationCenter` that posts the message.
  ///   - subject: The subject whose messages are relayed.
  ///   - topic: The topic.
  ///   - fileID: The file of the call site, for reports. In a wrapper, pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Returns the message to post; nil for none.
  /// - Returns: A token that can end the relay. You can ignore it.
  /// - Complexity: That of `post` and of waking a task.
  @discardableResult
  public func relay<Message: NotificationCenter.AsyncMessage, Value>(
    _ message: Message.Type, from source: NotificationCenter = .default,
    of subject: Message.Subject, to topic: Topic<Value>,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ transform: @escaping @Sendable (Message) -> Value?
  ) -> NotificationRelay where Message.Subject: AnyObject {
    relay(message, from: source, of: subject) { center, message in
      guard let value = transform(message) else { return false }
      center.post(topic, value, fileID: fileID, line: line, column: column)
      return true
    }
  }

  private func relay<Message: NotificationCenter.AsyncMessage>(
    _ message: Message.Type, from source: NotificationCenter,
    deliver: @escaping @Sendable (MulticastCenter, Message) -> Bool
  ) -> NotificationRelay {
    relay(
      source.messages(
        of: Message.Subject.self, for: NotificationCenter.BaseMessageIdentifier<Message>(),
        bufferSize: .max), of: source, deliver)
  }

  private func relay<Message: NotificationCenter.AsyncMessage>(
    _ message: Message.Type, from source: NotificationCenter, of subject: Message.Subject,
    deliver: @escaping @Sendable (MulticastCenter, Message) -> Bool
  ) -> NotificationRelay where Message.Subject: AnyObject {
    relay(
      source.messages(
        of: subject, for: NotificationCenter.BaseMessageIdentifier<Message>(), bufferSize: .max),
      of: source, deliver)
  }

  /// Relays the messages of a sequence, which keeps all of them, in order. An observer would be called in a task for each
  /// message, and tasks have no order.
  private func relay<Message: NotificationCenter.AsyncMessage>(
    _ messages: some AsyncSequence<Message, Never> & Sendable, of source: NotificationCenter,
    _ deliver: @escaping @Sendable (MulticastCenter, Message) -> Bool
  ) -> NotificationRelay {
    makeRelay(deliver) { observer in
      // The iterator is made here and not in the task, so that the relay receives what is posted before the task begins.
      // `nonisolated(unsafe)`, because it is not `Sendable`. Only the task uses it.
      nonisolated(unsafe) let iterator = messages.makeAsyncIterator()
      let task = Task.detached { [status = observer.status, weak observer] in
        var messages = unsafe iterator
        // Checks the status first, because `next` of Foundation's iterator never returns in a task that is cancelled. If the
        // cancellation comes between this check and the wait, the task stays suspended forever. It retains the iterator, and
        // nothing of `deliver`.
        while status.isActive, let message = await messages.next(isolation: nil) {
          observer?.receive { deliver, center in deliver(center, message) }
        }
      }
      return { withExtendedLifetime(source) { task.cancel() } }
    }
  }
}
