/// The key of closure observers: a message type and a name.
///
/// Declare a topic once, next to its message:
///
/// <!-- example: in Center -->
/// ```swift
/// nonisolated struct UserLogin: Sendable {
///   let id: UInt
/// }
/// nonisolated extension Topic where Message == UserLogin {
///   static var userLogin: Self { Topic("userLogin") }
/// }
/// ```
///
/// Observe the topic and post to it:
///
/// <!-- example: in Observer -->
/// ```swift
/// center.observe(.userLogin, owner: self) { me, login in me.show(login.id) }
/// center.post(.userLogin, UserLogin(id: 19000))
/// ```
///
/// Two topics are equal if their message types and names are. `Topic<UserLogin>()` is the default topic of its
/// message type. Write each topic in one place. A debug build stops at two that differ in `keepsLatest`. It also reports a post
/// that nobody observes if somebody observes a topic of that name with another message type.
public struct Topic<Message: Sendable>: Sendable {
  /// The name; empty for the default topic.
  public let name: String

  /// Whether a center keeps the latest message.
  ///
  /// The handlers of such a topic that have no home are called one at a time. While another thread calls one of them, a
  /// `post` returns at once, and that thread calls them.
  ///
  /// It is no part of the topic's identity. In a debug build, a program stops if it uses two topics of one name
  /// and message type that disagree.
  public let keepsLatest: Bool

  /// Creates the topic of a name, or the default topic.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - keepsLatest: Whether a center keeps the latest message for later observers.
  @inlinable
  public init(_ name: String = "", keepsLatest: Bool = false) {
    self.name = name
    self.keepsLatest = keepsLatest
  }
}

extension Topic: Hashable {
  /// Returns whether both have the same name.
  public static func == (one: Topic, other: Topic) -> Bool { one.name == other.name }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension Topic: CustomStringConvertible {
  /// The topic as source code: `Topic<UserLogin>("userLogin")`.
  public var description: String {
    DeliverySubject.topic(name: name, keepsLatest: keepsLatest, message: Message.self).description
  }
}

// MARK: - For recorders

extension DeliveryEvent {
  /// Whether it is of a delivery to a topic.
  package func isDelivery<Message>(to topic: Topic<Message>) -> Bool {
    guard case .topic(let name, _, let message) = subject else { return false }
    return name == topic.name && message == Message.self
  }
}
