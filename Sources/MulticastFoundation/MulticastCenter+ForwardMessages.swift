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
  /// The forward lives on the main actor and posts there, at its turn. The message has no subject.
  /// If `transform` returns nil, it posts nothing. Otherwise the same as
  /// ``forward(_:to:as:fileID:line:column:_:)-(_,_,Notification.Name,_,_,_,_)``.
  ///
  /// - Returns: A token that ends the forward. It may be ignored.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func forward<Message, Posted: NotificationCenter.MainActorMessage>(
    _ topic: Topic<Message>, to target: NotificationCenter = .default, as type: Posted.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ transform: @escaping @MainActor @Sendable (Message) -> Posted?
  ) -> TopicObservation {
    let forward = NotificationForward()
    let id = NotificationForward.ID(target: target, name: String(describing: type))
    return observe(
      topic, owner: forward, id: id, fileID: fileID, line: line, column: column
    ) { @MainActor _, message in
      if let posted = transform(message) { target.post(posted) }
      extendLifetime(forward)
    }
  }

  /// Posts a typed message of the main actor, with a subject, when a message is posted to a topic.
  ///
  /// The forward holds the subject weakly and ends with it. Registers nothing in the subject's
  /// `deinit`. Otherwise the same as without a subject.
  ///
  /// - Returns: A token that ends the forward. It may be ignored.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func forward<Message, Posted: NotificationCenter.MainActorMessage>(
    _ topic: Topic<Message>, to target: NotificationCenter = .default, as type: Posted.Type,
    subject: Posted.Subject,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ transform: @escaping @MainActor @Sendable (Message) -> Posted?
  ) -> TopicObservation where Posted.Subject: AnyObject & Sendable {
    let id = NotificationForward.ID(target: target, name: String(describing: type))
    return observe(
      topic, owner: subject, id: id, fileID: fileID, line: line, column: column
    ) { @MainActor subject, message in
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
  /// The message is posted on the posting thread and has no subject. Foundation calls its observers
  /// a little later. If `transform` returns nil, it posts nothing. Otherwise the same as
  /// ``forward(_:to:as:fileID:line:column:_:)-(_,_,Notification.Name,_,_,_,_)``.
  ///
  /// - Returns: A token that ends the forward. It may be ignored.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func forward<Message, Posted: NotificationCenter.AsyncMessage>(
    _ topic: Topic<Message>, to target: NotificationCenter = .default, as type: Posted.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ transform: @escaping @Sendable (Message) -> Posted?
  ) -> TopicObservation {
    let forward = NotificationForward()
    let id = NotificationForward.ID(target: target, name: String(describing: type))
    return observe(
      topic, owner: forward, id: id, fileID: fileID, line: line, column: column
    ) { _, message in
      if let posted = transform(message) { target.post(posted) }
      extendLifetime(forward)
    }
  }

  /// Posts an asynchronous message, with a subject, when a message is posted to a topic.
  ///
  /// The forward holds the subject weakly and ends with it. Registers nothing in the subject's
  /// `deinit`. Otherwise the same as without a subject.
  ///
  /// - Returns: A token that ends the forward. It may be ignored.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func forward<Message, Posted: NotificationCenter.AsyncMessage>(
    _ topic: Topic<Message>, to target: NotificationCenter = .default, as type: Posted.Type,
    subject: Posted.Subject,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ transform: @escaping @Sendable (Message) -> Posted?
  ) -> TopicObservation where Posted.Subject: AnyObject & Sendable {
    let id = NotificationForward.ID(target: target, name: String(describing: type))
    return observe(
      topic, owner: subject, id: id, fileID: fileID, line: line, column: column
    ) { subject, message in
      if let posted = transform(message) { target.post(posted, subject: subject) }
    }
  }
}
