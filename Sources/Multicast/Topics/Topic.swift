/// A message type and a name, under which senders post messages and handlers observe them.
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
/// center.observe(.userLogin, owner: self) { me, login in
///   me.show(login.id)
/// }
/// center.post(.userLogin, UserLogin(id: 19000))
/// ```
///
/// Two topics are the same if their message types and names are equal. `Topic<UserLogin>()` is the default topic
/// of its message type. Declare each topic once: a debug build stops if one is observed or posted to while another
/// one that differs from it in `keepsLatest` is in use. It also prints a warning if you post to a topic without handlers
/// while handlers observe one of the same name, which is not empty, with another message type, or one of the same message
/// type whose name looks like a misspelling. For each line, it examines the first, second, fourth, eighth … such post.
public struct Topic<Message: Sendable>: Sendable {
  /// The name. It is empty for the default topic.
  public let name: String

  /// Whether a center keeps the latest message, which new handlers receive first.
  ///
  /// The handlers of such a topic that have no home are called one at a time. If another thread is calling
  /// one of them, a `post` returns before they are called, and that thread, or a task after 1,000 posts, calls
  /// them.
  ///
  /// This property does not distinguish topics. If two topics of one name and message type differ in it, a debug
  /// build stops, and a release build uses that of the first one.
  public let keepsLatest: Bool

  /// Creates a topic with a name, or the default topic of the message type.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - keepsLatest: Whether a center keeps the latest message, which new handlers receive first.
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
