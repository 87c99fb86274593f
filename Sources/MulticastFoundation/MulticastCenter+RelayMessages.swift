import Foundation
import Multicast

// MARK: - Of the main actor

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension MulticastCenter {
  /// Has clients of a listener protocol called when a message of the main actor is posted.
  ///
  /// <!-- example: in BridgeMessages -->
  /// ```swift
  /// center.relay(DocumentDidChange.self, of: document, to: DocumentScreen.self) {
  ///   $0.show($1.title)
  /// }
  /// ```
  ///
  /// The body runs on the main actor, as the message does, so that the protocol may be a `@MainActor` one.
  /// No client may live in another home: relay to a topic to reach others. The clients have been called
  /// when the message's post returns, unless it is posted inside of a post's call: then they follow.
  ///
  /// The relay lasts until ``NotificationRelay/cancel()``, the center's end or the subject's, whichever
  /// comes first. It holds center and subject weakly. Everything else is as in a relay of
  /// notifications.
  ///
  /// - Parameters:
  ///   - message: The message's type.
  ///   - source: Where it is posted.
  ///   - subject: The object whose messages are relayed; nil for those of all, and for those that have
  ///     none.
  ///   - listener: The listener protocol. Nobody need have been added for it.
  ///   - fileID: The file of the call site; leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Is called with each client and the message.
  /// - Returns: A token to cancel with. It may be ignored. Nothing is ever dropped.
  /// - Complexity: That of a post.
  @discardableResult
  public func relay<Message: NotificationCenter.MainActorMessage, Listener>(
    _ message: Message.Type, from source: NotificationCenter = .default,
    of subject: Message.Subject? = nil, to listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @MainActor @Sendable (Listener, Message) -> Void
  ) -> NotificationRelay where Message.Subject: AnyObject {
    relay(message, from: source, of: subject) { center, message in
      center.post(Listener.self, fileID: fileID, line: line, column: column) {
        @MainActor client in body(client, message)
      }
      return true
    }
  }

  /// Posts a message to a topic when a message of the main actor is posted.
  ///
  /// <!-- example: in BridgeMessages -->
  /// ```swift
  /// center.relay(DocumentDidChange.self, to: Topic<String>("title")) { $0.title }
  /// ```
  ///
  /// Handlers run at home. Everything else is as in a relay to clients.
  ///
  /// - Parameters:
  ///   - message: The message's type.
  ///   - source: Where it is posted.
  ///   - subject: The object whose messages are relayed; nil for those of all, and for those that have
  ///     none.
  ///   - topic: The topic. Nobody need have observed it.
  ///   - fileID: The file of the call site; leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Is called with each message, on the main actor; nil drops it.
  /// - Returns: A token to cancel with. It may be ignored.
  /// - Complexity: That of a post.
  @discardableResult
  public func relay<Message: NotificationCenter.MainActorMessage, Value>(
    _ message: Message.Type, from source: NotificationCenter = .default,
    of subject: Message.Subject? = nil, to topic: Topic<Value>,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ transform: @escaping @MainActor @Sendable (Message) -> Value?
  ) -> NotificationRelay where Message.Subject: AnyObject {
    relay(message, from: source, of: subject) { center, message in
      guard let value = transform(message) else { return false }
      center.post(topic, value, fileID: fileID, line: line, column: column)
      return true
    }
  }

  private func relay<Message: NotificationCenter.MainActorMessage>(
    _ message: Message.Type, from source: NotificationCenter, of subject: Message.Subject?,
    deliver: @escaping @MainActor @Sendable (MulticastCenter, Message) -> Bool
  ) -> NotificationRelay where Message.Subject: AnyObject {
    makeRelay(sender: subject, deliver) { observer in
      let token = source.addObserver(of: subject, for: message) {
        [status = observer.status, weak observer] message in
        guard status.isActive else { return }
        observer?.receive { deliver, center in deliver(center, message) }
      }
      return { source.removeObserver(token) }
    }
  }
}

// MARK: - Of any thread

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension MulticastCenter {
  /// Has clients of a listener protocol called when an asynchronous message is posted.
  ///
  /// <!-- example: in BridgeMessages -->
  /// ```swift
  /// center.relay(UploadDidProgress.self, to: UploadProtocol.self) { client, message in
  ///   client.uploadDidProgress(message.fraction)
  /// }
  /// ```
  ///
  /// Foundation hands these messages over in a task, a little after they are posted. Each client is then
  /// called at home, in the order of one thread's messages, which Foundation's own observers do not
  /// promise. All subjects' messages are relayed: what tells them apart belongs into the message, since
  /// its subject may have ended by then.
  ///
  /// A loop that leads through such a message is not found. After ``NotificationRelay/cancel()`` those
  /// that wait are not delivered. Everything else is as in a relay of notifications.
  ///
  /// - Parameters:
  ///   - message: The message's type.
  ///   - source: Where it is posted.
  ///   - listener: The listener protocol. Nobody need have been added for it.
  ///   - fileID: The file of the call site; leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Is called with each client and the message, at the client's home.
  /// - Returns: A token to cancel with. It may be ignored. Nothing is ever dropped.
  /// - Complexity: That of a post, and of a task that is woken.
  @discardableResult
  public func relay<Message: NotificationCenter.AsyncMessage, Listener>(
    _ message: Message.Type, from source: NotificationCenter = .default,
    to listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener, Message) -> Void
  ) -> NotificationRelay {
    let site = CallSite(fileID: fileID, line: line, column: column)
    return relay(message, from: source) { center, message in
      center.post(message, to: Listener.self, isolation: nil, from: site, body)
      return true
    }
  }

  /// Posts a message to a topic when an asynchronous message is posted.
  ///
  /// <!-- example: in BridgeMessages -->
  /// ```swift
  /// center.relay(UploadDidProgress.self, to: Topic<Double>("upload")) { $0.fraction }
  /// ```
  ///
  /// Handlers run at home. Everything else is as in a relay to clients.
  ///
  /// - Parameters:
  ///   - message: The message's type.
  ///   - source: Where it is posted.
  ///   - topic: The topic. Nobody need have observed it.
  ///   - fileID: The file of the call site; leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Is called with each message, in a task; nil drops it.
  /// - Returns: A token to cancel with. It may be ignored.
  /// - Complexity: That of a post, and of a task that is woken.
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

  private func relay<Message: NotificationCenter.AsyncMessage>(
    _ message: Message.Type, from source: NotificationCenter,
    deliver: @escaping @Sendable (MulticastCenter, Message) -> Bool
  ) -> NotificationRelay {
    makeRelay(deliver) { observer in
      // A sequence keeps the order, and everything. An observer is called in a task for each message.
      let messages = source.messages(
        of: Message.Subject.self, for: NotificationCenter.BaseMessageIdentifier<Message>(),
        bufferSize: .max
      ).makeAsyncIterator()
      let task = Task.detached { [status = observer.status, weak observer] in
        var messages = messages
        // Asked before: for a task that is cancelled already, Foundation's iterator waits for good.
        while status.isActive, let message = await messages.next(isolation: nil) {
          observer?.receive { deliver, center in deliver(center, message) }
        }
      }
      return { withExtendedLifetime(source) { task.cancel() } }
    }
  }
}
