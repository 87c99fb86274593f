/// The key of closure observers: a message type and a name.
///
/// Declare a topic once, next to its message:
///
/// <!-- example: in Center -->
/// ```swift
/// struct UserLogin: Sendable {
///   let id: UInt
/// }
/// extension Topic where Message == UserLogin {
///   static var userLogin: Self { Topic("userLogin") }
/// }
/// ```
///
/// With default main-actor isolation, write `nonisolated` before both. Observe the topic and post to it:
///
/// <!-- example: in Observer -->
/// ```swift
/// center.observe(.userLogin, owner: self) { owner, login in owner.show(login.id) }
/// center.post(.userLogin, UserLogin(id: 19000))
/// ```
///
/// Two topics are equal if their message types, names and `keepsLatest` are. `Topic<UserLogin>()` is the
/// default topic of its message type.
public struct Topic<Message: Sendable>: Hashable, Sendable {
  @usableFromInline
  let key: TopicKey

  /// Creates the topic of a name, or the default topic.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - keepsLatest: Whether a center keeps the latest message for later observers. It is part of
  ///     the topic's identity.
  @inlinable
  public init(_ name: String = "", keepsLatest: Bool = false) {
    key = TopicKey(name: name, keepsLatest: keepsLatest)
  }

  /// The name; empty for the default topic.
  public var name: String { key.name }

  /// Whether a center keeps the latest message.
  public var keepsLatest: Bool { key.keepsLatest }
}

extension Topic: CustomStringConvertible {
  /// The topic as source code: `Topic<UserLogin>("userLogin")`.
  public var description: String {
    topicDescription(message: String(describing: Message.self), key)
  }
}

@usableFromInline
struct TopicKey: Hashable, Sendable {
  @usableFromInline
  let name: String

  @usableFromInline
  let keepsLatest: Bool

  @inlinable
  init(name: String, keepsLatest: Bool) {
    self.name = name
    self.keepsLatest = keepsLatest
  }
}

func topicDescription(message: String, _ key: TopicKey) -> String {
  let arguments =
    (key.name.isEmpty ? [] : [String(reflecting: key.name)])
    + (key.keepsLatest ? ["keepsLatest: true"] : [])
  return "Topic<\(message)>(\(arguments.joined(separator: ", ")))"
}
