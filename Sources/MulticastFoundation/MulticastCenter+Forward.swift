import Foundation
import Multicast

extension MulticastCenter {
  /// Posts a notification when a message is posted to a topic, for code that observes a
  /// `NotificationCenter`.
  ///
  /// <!-- example: in Bridge -->
  /// ```swift
  /// center.forward(.userLogin, as: Notification.Name("userLogin")) { ["id": $0.id] }
  /// ```
  ///
  /// The notification is posted on the thread that posts the message, when the forward's turn comes
  /// among the topic's observers. It has no object.
  ///
  /// The forward is a handler of the topic. It lasts until its token's `cancel()`, the center's end
  /// or one of its methods for removing all handlers, and keeps `target` and what `userInfo`
  /// captures alive. Each call makes another forward: two of the same topic post two notifications.
  ///
  /// A relay of the same notification to the same topic makes a loop of posts. It is refused and
  /// reported after 1,000 rounds.
  ///
  /// May be called from any thread.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - target: Where the notification is posted.
  ///   - name: The notification's name.
  ///   - userInfo: Is called with each message, on the thread that posts it; nil posts a
  ///     notification without it. By default there is none.
  /// - Returns: A token to cancel with. It may be ignored.
  /// - Complexity: Amortised O(1).
  @discardableResult
  public func forward<Message>(
    _ topic: Topic<Message>, to target: NotificationCenter = .default, as name: Notification.Name,
    _ userInfo: @escaping @Sendable (Message) -> [AnyHashable: Any]? = { _ in nil }
  ) -> TopicObservation {
    let forward = NotificationForward()
    let id = NotificationForward.ID(target: target, name: name.rawValue)
    return observe(topic, owner: forward, id: id) { _, message in
      target.post(name: name, object: nil, userInfo: userInfo(message))
      extendLifetime(forward)
    }
  }

  /// Posts a notification of a sender when a message is posted to a topic, for code that observes a
  /// `NotificationCenter`.
  ///
  /// <!-- example: in Bridge -->
  /// ```swift
  /// center.forward(.userLogin, as: Notification.Name("userLogin"), object: account) { ["id": $0.id] }
  /// ```
  ///
  /// The sender is the notification's object. The forward lives with it, and holds it weakly. There
  /// is one forward for each topic, sender, target and name: to make it again replaces the first
  /// one, in its place in the order. Everything else is as in ``forward(_:to:as:_:)-(_,_,Notification.Name,_)``.
  ///
  /// - Parameters:
  ///   - topic: The topic.
  ///   - target: Where the notification is posted.
  ///   - name: The notification's name.
  ///   - sender: The notification's object. In its `deinit`, nothing is registered.
  ///   - userInfo: Is called with each message, on the thread that posts it; nil posts a
  ///     notification without it. By default there is none. It had better not capture the sender,
  ///     which would keep it alive.
  /// - Returns: A token to cancel with. It may be ignored.
  /// - Complexity: Amortised O(1).
  @discardableResult
  public func forward<Message, Sender: AnyObject & Sendable>(
    _ topic: Topic<Message>, to target: NotificationCenter = .default, as name: Notification.Name,
    object sender: Sender,
    _ userInfo: @escaping @Sendable (Message) -> [AnyHashable: Any]? = { _ in nil }
  ) -> TopicObservation {
    let id = NotificationForward.ID(target: target, name: name.rawValue)
    return observe(topic, owner: sender, id: id) { sender, message in
      target.post(name: name, object: sender, userInfo: userInfo(message))
    }
  }
}

/// The owner of a forward without a sender. Its own handler keeps it, and the topic keeps the
/// handler.
final class NotificationForward: Sendable {
  /// Tells the forwards of one sender apart, and tells a wiring what is posted. Forwards keep their
  /// targets, so that no other one takes a target's identity.
  struct ID: Hashable, Sendable {
    let target: ObjectIdentifier
    let name: String

    init(target: NotificationCenter, name: String) {
      self.target = ObjectIdentifier(target)
      self.name = name
    }
  }
}

extension NotificationForward.ID: CustomStringConvertible {
  /// What a ``Multicast/Wiring`` shows.
  var description: String { name }
}
