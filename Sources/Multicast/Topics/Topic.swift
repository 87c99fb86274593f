/// The key of closure observers: a kind of message, and a name.
///
/// A topic is declared once, where its message is:
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
/// It is observed with a closure that lives with its owner, and posted to:
///
/// <!-- example: in Observer -->
/// ```swift
/// center.observe(.userLogin, owner: self) { owner, login in owner.show(login.id) }
/// center.post(.userLogin, UserLogin(id: 19000))
/// ```
///
/// Two topics are the same if message type, name and `keepsLatest` are. Names are compared as a
/// whole. The topic without a name is the default one of its message type, so that
/// `Topic<UserLogin>()` needs no declaration.
public struct Topic<Message: Sendable>: Hashable, Sendable {
  @usableFromInline
  let key: TopicKey

  /// Creates the topic of a name, or the default one.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - keepsLatest: Whether a center keeps the last message. Those who observe later then begin
  ///     with it. It is part of the topic's identity: two declarations that differ in it are two
  ///     topics.
  @inlinable
  public init(_ name: String = "", keepsLatest: Bool = false) {
    key = TopicKey(name: name, keepsLatest: keepsLatest)
  }

  /// The name; empty for the default topic of the message type.
  public var name: String { key.name }

  /// Whether a center keeps the last message.
  public var keepsLatest: Bool { key.keepsLatest }
}

extension Topic: CustomStringConvertible {
  /// The topic as it is written: `Topic<UserLogin>("userLogin")`.
  public var description: String {
    topicDescription(message: String(describing: Message.self), key)
  }
}

/// What tells the topics of one type of message apart.
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
