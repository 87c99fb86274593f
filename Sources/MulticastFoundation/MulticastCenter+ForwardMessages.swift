import Foundation
import Multicast

// MARK: - To the main actor

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension MulticastCenter {
  /// Posts a typed message of the main actor when a message is posted to a topic.
  ///
  /// <!-- example: in BridgeMessages -->
  /// ```swift
  /// center.forward(.title, as: DocumentDidChange.self) { DocumentDidChange(title: $0) }
  /// ```
  ///
  /// The forward lives on the main actor: the message is posted there, when the forward's turn comes. It has
  /// no subject. Everything else is as in ``forward(_:to:as:_:)-(_,_,Notification.Name,_)``.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - target: Where the message is posted.
  ///   - type: The message's type.
  ///   - transform: Is called with each of the topic's messages, on the main actor; nil posts nothing.
  /// - Returns: A token to cancel with. It may be ignored.
  /// - Complexity: Amortised O(1).
  @discardableResult
  public func forward<Message, Posted: NotificationCenter.MainActorMessage>(
    _ topic: Topic<Message>, to target: NotificationCenter = .default, as type: Posted.Type,
    _ transform: @escaping @MainActor @Sendable (Message) -> Posted?
  ) -> TopicObservation {
    let forward = NotificationForward()
    let id = NotificationForward.ID(target: target, name: String(describing: type))
    return observe(topic, owner: forward, id: id) { @MainActor _, message in
      if let posted = transform(message) { target.post(posted) }
      extendLifetime(forward)
    }
  }

  /// Posts a typed message of the main actor, and of a subject, when a message is posted to a topic.
  ///
  /// The forward lives with the subject, and holds it weakly. Everything else is as without a subject.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - target: Where the message is posted.
  ///   - type: The message's type.
  ///   - subject: The message's subject. In its `deinit`, nothing is registered.
  ///   - transform: Is called with each of the topic's messages, on the main actor; nil posts nothing.
  /// - Returns: A token to cancel with. It may be ignored.
  /// - Complexity: Amortised O(1).
  @discardableResult
  public func forward<Message, Posted: NotificationCenter.MainActorMessage>(
    _ topic: Topic<Message>, to target: NotificationCenter = .default, as type: Posted.Type,
    subject: Posted.Subject, _ transform: @escaping @MainActor @Sendable (Message) -> Posted?
  ) -> TopicObservation where Posted.Subject: AnyObject & Sendable {
    let id = NotificationForward.ID(target: target, name: String(describing: type))
    return observe(topic, owner: subject, id: id) { @MainActor subject, message in
      if let posted = transform(message) { target.post(posted, subject: subject) }
    }
  }
}

// MARK: - To any thread

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension MulticastCenter {
  /// Posts an asynchronous message when a message is posted to a topic.
  ///
  /// <!-- example: in BridgeMessages -->
  /// ```swift
  /// center.forward(.upload, as: UploadDidProgress.self) { UploadDidProgress(fraction: $0) }
  /// ```
  ///
  /// The message is posted on the thread that posts to the topic, and has no subject. Foundation calls
  /// its observers a little later. Everything else is as in
  /// ``forward(_:to:as:_:)-(_,_,Notification.Name,_)``.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - target: Where the message is posted.
  ///   - type: The message's type.
  ///   - transform: Is called with each of the topic's messages, on the thread that posts it; nil posts
  ///     nothing.
  /// - Returns: A token to cancel with. It may be ignored.
  /// - Complexity: Amortised O(1).
  @discardableResult
  public func forward<Message, Posted: NotificationCenter.AsyncMessage>(
    _ topic: Topic<Message>, to target: NotificationCenter = .default, as type: Posted.Type,
    _ transform: @escaping @Sendable (Message) -> Posted?
  ) -> TopicObservation {
    let forward = NotificationForward()
    let id = NotificationForward.ID(target: target, name: String(describing: type))
    return observe(topic, owner: forward, id: id) { _, message in
      if let posted = transform(message) { target.post(posted) }
      extendLifetime(forward)
    }
  }

  /// Posts an asynchronous message of a subject when a message is posted to a topic.
  ///
  /// The forward lives with the subject, and holds it weakly. Everything else is as without a subject.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - target: Where the message is posted.
  ///   - type: The message's type.
  ///   - subject: The message's subject. In its `deinit`, nothing is registered.
  ///   - transform: Is called with each of the topic's messages, on the thread that posts it; nil posts
  ///     nothing.
  /// - Returns: A token to cancel with. It may be ignored.
  /// - Complexity: Amortised O(1).
  @discardableResult
  public func forward<Message, Posted: NotificationCenter.AsyncMessage>(
    _ topic: Topic<Message>, to target: NotificationCenter = .default, as type: Posted.Type,
    subject: Posted.Subject, _ transform: @escaping @Sendable (Message) -> Posted?
  ) -> TopicObservation where Posted.Subject: AnyObject & Sendable {
    let id = NotificationForward.ID(target: target, name: String(describing: type))
    return observe(topic, owner: subject, id: id) { subject, message in
      if let posted = transform(message) { target.post(posted, subject: subject) }
    }
  }
}
