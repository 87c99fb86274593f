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
/// A topic is the same as another one if message type and name are: the same name with another
/// message type is another topic, and names are compared as a whole. The topic without a name is the
/// default one of its message type, so that `Topic<UserLogin>()` needs no declaration.
public struct Topic<Message: Sendable>: Hashable, Sendable {
  /// The name; empty for the default topic of the message type.
  public let name: String

  /// The topic of this name, or the default one.
  public init(_ name: String = "") {
    self.name = name
  }
}

extension Topic: CustomStringConvertible {
  /// The topic as it is written: `Topic<UserLogin>("userLogin")`.
  public var description: String {
    topicDescription(message: String(describing: Message.self), name: name)
  }
}

func topicDescription(message: String, name: String) -> String {
  "Topic<\(message)>(" + (name.isEmpty ? "" : String(reflecting: name)) + ")"
}
