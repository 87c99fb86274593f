import Foundation
import Multicast

// MARK: - As notifications

extension MulticastCenter {
  /// Posts a notification whenever a message is posted to a topic.
  ///
  /// <!-- example: in Bridge -->
  /// ```swift
  /// center.forward(
  ///   .userLogin, as: Notification.Name("userLogin")
  /// ) { ["id": $0.id] }
  /// ```
  ///
  /// The forward is a handler of the topic. At its turn, on the posting thread, it calls `userInfo` with the
  /// message and posts the notification, which has no object. If the topic keeps its latest message, another
  /// thread may do this, perhaps after `post` has returned. The forward ends with its token's `cancel()`, with
  /// the center, or with the center's methods that remove all handlers. It keeps `target` and `userInfo` alive.
  /// Two forwards of one topic post two notifications.
  ///
  /// A forward and a relay of the same notification to the same topic form a loop, which is refused after
  /// 1,000 rounds. You may call this on any thread.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - target: The `NotificationCenter` that posts the notification.
  ///   - name: The name of the notification.
  ///   - fileID: The file of the call site, for reports and the center's wiring. In a wrapper, pass your
  ///     caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - userInfo: Returns the notification's `userInfo` for a message.
  /// - Returns: A token that can end the forward. You can ignore it.
  /// - Complexity: Amortized O(1). O(*n*) for *n* handlers if a delivery that has begun since a handler was last added
  ///   still uses their list.
  @discardableResult
  public func forward<Message>(
    _ topic: Topic<Message>, to target: NotificationCenter = .default, as name: Notification.Name,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ userInfo: @escaping @Sendable (Message) -> [AnyHashable: Any]? = { _ in nil }
  ) -> TopicObservation {
    let forward = NotificationForward()
    let id = NotificationForward.ID(target: target, name: name.rawValue)
    return observe(
      topic, owner: forward, id: id, fileID: fileID, line: line, column: column
    ) { _, message in
      target.post(name: name, object: nil, userInfo: userInfo(message))
      extendLifetime(forward)
    }
  }

  /// Posts a notification of a sender whenever a message is posted to a topic.
  ///
  /// <!-- example: in Bridge -->
  /// ```swift
  /// center.forward(
  ///   .userLogin, as: Notification.Name("userLogin"),
  ///   object: account
  /// ) { ["id": $0.id] }
  /// ```
  ///
  /// A topic's message belongs to no sender, so every message becomes a notification of this one. If a topic
  /// has the messages of several senders, observe it with each of them as the owner, and post a notification
  /// there for the sender's own messages.
  ///
  /// The sender is the notification's object. The forward holds it weakly and ends with it, so `userInfo`
  /// must not capture it. The forward retains the sender for an instant at each message, on the posting thread,
  /// where the sender may then be deallocated. If its `deinit` needs the main actor, observe with a method of the
  /// sender instead, and post the notification there. Another forward of the same topic, sender, target and name
  /// replaces the first one, in its position in the order. In the sender's `deinit`, this registers nothing.
  /// Otherwise it does the same as ``forward(_:to:as:fileID:line:column:_:)-(_,_,Notification.Name,_,_,_,_)``.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - target: The `NotificationCenter` that posts the notification.
  ///   - name: The name of the notification.
  ///   - sender: The object of the notification.
  ///   - fileID: The file of the call site, for reports and the center's wiring. In a wrapper, pass your
  ///     caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - userInfo: Returns the notification's `userInfo` for a message.
  /// - Returns: A token that can end the forward. You can ignore it.
  /// - Complexity: Amortized O(1). O(*n*) for *n* handlers if a delivery that has begun since a handler was last added
  ///   still uses their list.
  @discardableResult
  public func forward<Message, Sender: AnyObject & Sendable>(
    _ topic: Topic<Message>, to target: NotificationCenter = .default, as name: Notification.Name,
    object sender: Sender,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ userInfo: @escaping @Sendable (Message) -> [AnyHashable: Any]? = { _ in nil }
  ) -> TopicObservation {
    let id = NotificationForward.ID(target: target, name: name.rawValue)
    return observe(
      topic, owner: sender, id: id, fileID: fileID, line: line, column: column
    ) { sender, message in
      target.post(name: name, object: sender, userInfo: userInfo(message))
    }
  }
}

// MARK: - As typed messages of the main actor

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension MulticastCenter {
  /// Posts a typed message of the main actor whenever a message is posted to a topic.
  ///
  /// <!-- example: in BridgeMessages -->
  /// ```swift
  /// center.forward(.title, as: DocumentDidChange.self) {
  ///   DocumentDidChange(title: $0)
  /// }
  /// ```
  ///
  /// The forward has the main actor as its home and posts there, at its turn. The message has no subject. If
  /// `transform` returns nil, the forward posts nothing. Otherwise it does the same as
  /// ``forward(_:to:as:fileID:line:column:_:)-(_,_,Notification.Name,_,_,_,_)``.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - target: The `NotificationCenter` that posts the message.
  ///   - type: The type of the message.
  ///   - fileID: The file of the call site, for reports and the center's wiring. In a wrapper, pass your
  ///     caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Returns the message to post; nil for none.
  /// - Returns: A token that can end the forward. You can ignore it.
  /// - Complexity: Amortized O(1). O(*n*) for *n* handlers if a delivery that has begun since a handler was last added
  ///   still uses their list.
  @discardableResult
  public func forward<Message, Posted: NotificationCenter.MainActorMessage>(
    _ topic: Topic<Message>, to target: NotificationCenter = .default, as type: Posted.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ transform: @escaping @MainActor @Sendable (Message) -> Posted?
  ) -> TopicObservation {
    let forward = NotificationForward()
    let id = NotificationForward.ID(target: target, type: type)
    return observe(
      topic, owner: forward, id: id, fileID: fileID, line: line, column: column
    ) { @MainActor _, message in
      if let posted = transform(message) { target.post(posted) }
      extendLifetime(forward)
    }
  }

  /// Posts a typed message of the main actor of a subject whenever a message is posted to a topic.
  ///
  /// To skip a message of another subject, return nil from `transform`. The forward holds the subject weakly and
  /// ends with it. In the subject's `deinit`, this registers nothing. Otherwise it does the same as a forward
  /// without a subject.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - target: The `NotificationCenter` that posts the message.
  ///   - type: The type of the message.
  ///   - subject: The subject of the message.
  ///   - fileID: The file of the call site, for reports and the center's wiring. In a wrapper, pass your
  ///     caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Returns the message to post; nil for none.
  /// - Returns: A token that can end the forward. You can ignore it.
  /// - Complexity: Amortized O(1). O(*n*) for *n* handlers if a delivery that has begun since a handler was last added
  ///   still uses their list.
  @discardableResult
  public func forward<Message, Posted: NotificationCenter.MainActorMessage>(
    _ topic: Topic<Message>, to target: NotificationCenter = .default, as type: Posted.Type,
    subject: Posted.Subject,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ transform: @escaping @MainActor @Sendable (Message) -> Posted?
  ) -> TopicObservation where Posted.Subject: AnyObject & Sendable {
    let id = NotificationForward.ID(target: target, type: type)
    return observe(
      topic, owner: subject, id: id, fileID: fileID, line: line, column: column
    ) { @MainActor subject, message in
      if let posted = transform(message) { target.post(posted, subject: subject) }
    }
  }
}

// MARK: - As typed messages of any thread

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension MulticastCenter {
  /// Posts an asynchronous typed message whenever a message is posted to a topic.
  ///
  /// <!-- example: in BridgeMessages -->
  /// ```swift
  /// center.forward(.upload, as: UploadDidProgress.self) {
  ///   UploadDidProgress(fraction: $0)
  /// }
  /// ```
  ///
  /// The message is posted on the posting thread. Foundation calls its observers afterwards, in a task. The
  /// message has no subject. If `transform` returns nil, the forward posts nothing. Otherwise it does the
  /// same as ``forward(_:to:as:fileID:line:column:_:)-(_,_,Notification.Name,_,_,_,_)``.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - target: The `NotificationCenter` that posts the message.
  ///   - type: The type of the message.
  ///   - fileID: The file of the call site, for reports and the center's wiring. In a wrapper, pass your
  ///     caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Returns the message to post; nil for none.
  /// - Returns: A token that can end the forward. You can ignore it.
  /// - Complexity: Amortized O(1). O(*n*) for *n* handlers if a delivery that has begun since a handler was last added
  ///   still uses their list.
  @discardableResult
  public func forward<Message, Posted: NotificationCenter.AsyncMessage>(
    _ topic: Topic<Message>, to target: NotificationCenter = .default, as type: Posted.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ transform: @escaping @Sendable (Message) -> Posted?
  ) -> TopicObservation {
    let forward = NotificationForward()
    let id = NotificationForward.ID(target: target, type: type)
    return observe(
      topic, owner: forward, id: id, fileID: fileID, line: line, column: column
    ) { _, message in
      if let posted = transform(message) { target.post(posted) }
      extendLifetime(forward)
    }
  }

  /// Posts an asynchronous typed message of a subject whenever a message is posted to a topic.
  ///
  /// To skip a message of another subject, return nil from `transform`. The forward holds the subject weakly and
  /// ends with it. In the subject's `deinit`, this registers nothing. Otherwise it does the same as a forward
  /// without a subject.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - target: The `NotificationCenter` that posts the message.
  ///   - type: The type of the message.
  ///   - subject: The subject of the message.
  ///   - fileID: The file of the call site, for reports and the center's wiring. In a wrapper, pass your
  ///     caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Returns the message to post; nil for none.
  /// - Returns: A token that can end the forward. You can ignore it.
  /// - Complexity: Amortized O(1). O(*n*) for *n* handlers if a delivery that has begun since a handler was last added
  ///   still uses their list.
  @discardableResult
  public func forward<Message, Posted: NotificationCenter.AsyncMessage>(
    _ topic: Topic<Message>, to target: NotificationCenter = .default, as type: Posted.Type,
    subject: Posted.Subject,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ transform: @escaping @Sendable (Message) -> Posted?
  ) -> TopicObservation where Posted.Subject: AnyObject & Sendable {
    let id = NotificationForward.ID(target: target, type: type)
    return observe(
      topic, owner: subject, id: id, fileID: fileID, line: line, column: column
    ) { subject, message in
      if let posted = transform(message) { target.post(posted, subject: subject) }
    }
  }
}

// MARK: - The owner

/// The owner of a forward without a sender. The forward's handler retains it, and the topic retains the handler, so the forward
/// exists until it is ended.
final class NotificationForward: Sendable {
  /// The id of a forward's handler. It distinguishes the forwards of one sender, and names the notification in a wiring. A
  /// forward keeps its target alive, so no other target can have the same identity meanwhile.
  struct ID: Hashable, Sendable {
    let target: ObjectIdentifier
    let name: String

    /// The type of a typed message; nil for a notification. Types of one name may be in several modules.
    let type: ObjectIdentifier?

    init(target: NotificationCenter, name: String) {
      self.target = ObjectIdentifier(target)
      self.name = name
      type = nil
    }

    init(target: NotificationCenter, type: any Any.Type) {
      self.target = ObjectIdentifier(target)
      name = String(describing: type)
      self.type = ObjectIdentifier(type)
    }
  }
}

extension NotificationForward: LibraryOwner {
  package static var shownType: any Any.Type { Self.self }
}

extension NotificationForward.ID: CustomStringConvertible {
  /// The name that a ``Multicast/Wiring`` shows.
  var description: String { name }
}
