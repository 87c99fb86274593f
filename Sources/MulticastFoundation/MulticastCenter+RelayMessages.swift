import Foundation
import Multicast

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension MulticastCenter {
  /// Calls the clients of a listener protocol whenever a typed message of the main actor is posted.
  ///
  /// <!-- example: in BridgeMessages -->
  /// ```swift
  /// center.relay(
  ///   DocumentDidChange.self, of: document,
  ///   to: DocumentScreen.self
  /// ) { $0.show($1.title) }
  /// ```
  ///
  /// The body runs on the main actor, so the protocol may be a `@MainActor` one. No client may have another
  /// home: relay to a topic instead. The clients have been called when the `NotificationCenter` returns from
  /// posting, unless a client that `post` was calling posted the message. Then they are called afterwards.
  ///
  /// The relay holds the subject weakly and ends with it. What `body` captures may stay in memory until
  /// ``NotificationRelay/cancel()``, or until the center ends. Otherwise it does the same as a relay of
  /// notifications.
  ///
  /// - Parameters:
  ///   - message: The type of the message.
  ///   - source: The `NotificationCenter` that posts the message.
  ///   - subject: The subject whose messages are relayed; nil for all.
  ///   - listener: The protocol.
  ///   - fileID: The file of the call site, for reports. In a wrapper, pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Receives each client with the message.
  /// - Returns: A token that can end the relay. You can ignore it.
  /// - Complexity: That of `post`.
  @discardableResult
  public func relay<Message: NotificationCenter.MainActorMessage, Listener>(
    _ message: Message.Type, from source: NotificationCenter = .default,
    of subject: Message.Subject? = nil, to listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @MainActor @Sendable (Listener, Message) -> Void
  ) -> NotificationRelay where Message.Subject: AnyObject {
    relay(message, from: source, of: subject) { center, message in
      center.postOnMain(Listener.self, fileID: fileID, line: line, column: column) { client in
        body(client, message)
      }
      return true
    }
  }

  /// Posts a message to a topic whenever a typed message of the main actor is posted.
  ///
  /// <!-- example: in BridgeMessages -->
  /// ```swift
  /// center.relay(
  ///   DocumentDidChange.self, to: Topic<String>("title")
  /// ) { $0.title }
  /// ```
  ///
  /// `transform` runs on the main actor. If it returns nil, the relay drops the message. Otherwise it does
  /// the same as a relay to clients.
  ///
  /// - Parameters:
  ///   - message: The type of the message.
  ///   - source: The `NotificationCenter` that posts the message.
  ///   - subject: The subject whose messages are relayed; nil for all.
  ///   - topic: The topic.
  ///   - fileID: The file of the call site, for reports. In a wrapper, pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Returns the message to post; nil for none.
  /// - Returns: A token that can end the relay. You can ignore it.
  /// - Complexity: That of `post`.
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
