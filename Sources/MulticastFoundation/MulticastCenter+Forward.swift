import Foundation
import Multicast

extension MulticastCenter {
  /// Posts a notification when a message is posted to a topic.
  ///
  /// <!-- example: in Bridge -->
  /// ```swift
  /// center.forward(.userLogin, as: Notification.Name("userLogin")) { ["id": $0.id] }
  /// ```
  ///
  /// The forward is a handler of the topic. At its turn, on the posting thread, it calls `userInfo` with the
  /// message and posts the notification, which has no object. The forward ends with its token's `cancel()`,
  /// with the center, or with the center's methods that remove all handlers. It keeps `target` and `userInfo`
  /// alive. Two forwards of one topic post two notifications.
  ///
  /// A relay of the same notification to the same topic makes a loop, which is refused after 1,000 rounds.
  /// May be called from any thread. A wrapper passes its caller's `fileID`, `line` and `column` on, which the
  /// center's wiring shows.
  ///
  /// - Returns: A token that ends the forward. It may be ignored.
  /// - Complexity: Amortized O(1).
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

  /// Posts a notification of a sender when a message is posted to a topic.
  ///
  /// <!-- example: in Bridge -->
  /// ```swift
  /// center.forward(.userLogin, as: Notification.Name("userLogin"), object: account) { ["id": $0.id] }
  /// ```
  ///
  /// The sender is the notification's object. The forward holds it weakly and ends with it, so
  /// `userInfo` must not capture it. Another forward of the same topic, sender, target and name
  /// replaces the first one, in its place in the order. Registers nothing in the sender's `deinit`.
  /// Otherwise the same as without a sender.
  ///
  /// - Returns: A token that ends the forward. It may be ignored.
  /// - Complexity: Amortized O(1).
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

/// The owner of a forward without a sender. Its own handler keeps it, and the topic keeps the handler.
final class NotificationForward: Sendable {
  /// Distinguishes the forwards of one sender, and names the notification in a wiring. Forwards
  /// keep their targets alive, so a target's identity stays unique.
  struct ID: Hashable, Sendable {
    let target: ObjectIdentifier
    let name: String

    init(target: NotificationCenter, name: String) {
      self.target = ObjectIdentifier(target)
      self.name = name
    }
  }
}

extension NotificationForward: Surrogate {
  package static var shownType: any Any.Type { Self.self }
}

extension NotificationForward.ID: CustomStringConvertible {
  /// What a ``Multicast/Wiring`` shows.
  var description: String { name }
}
