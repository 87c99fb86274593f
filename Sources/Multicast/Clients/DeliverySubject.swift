/// The protocol or topic of a delivery. Its name is made when it is read.
@usableFromInline enum DeliverySubject: Sendable, CustomStringConvertible {
  case listener(any Any.Type)
  case topic(name: String, keepsLatest: Bool, message: any Any.Type)

  @usableFromInline var description: String { description(naming: { String(describing: $0) }) }

  /// The name, with types named by a function.
  func description(naming name: (any Any.Type) -> String) -> String {
    switch self {
    case .listener(let type): name(type)
    case .topic(let topic, let keepsLatest, let message):
      Self.topic(topic, keepsLatest: keepsLatest, message: name(message))
    }
  }

  /// A topic as source code.
  static func topic(_ name: String, keepsLatest: Bool, message: String) -> String {
    let arguments =
      (name.isEmpty ? [] : [String(reflecting: name)]) + (keepsLatest ? ["keepsLatest: true"] : [])
    return "Topic<\(message)>(\(arguments.joined(separator: ", ")))"
  }
}

/// An owner that represents one of the user's objects. Its handler may keep it.
package protocol Surrogate {
  static var shownType: any Any.Type { get }
}

extension WeakBox {
  /// The type that reports name: the client's, or the one that an owner represents. Nil for a client without a home that
  /// was removed or deallocated.
  var shownType: any Any.Type { (type as? any Surrogate.Type)?.shownType ?? type }

  /// Like ``shownType``, at home; nil for every client that was removed or deallocated.
  var reportedType: (any Any.Type)? { load().map { _ in shownType } }
}
