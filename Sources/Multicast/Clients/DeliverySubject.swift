/// The protocol or topic of a delivery. Its name is made when it is read.
@usableFromInline enum DeliverySubject: Sendable, CustomStringConvertible {
  case listener(any Any.Type)
  case topic(name: String, keepsLatest: Bool, message: any Any.Type)

  @usableFromInline var description: String {
    switch self {
    case .listener(let type): return "\(type)"
    case .topic(let name, let keepsLatest, let message):
      let name = name.isEmpty ? [] : [String(reflecting: name)]
      let arguments = name + (keepsLatest ? ["keepsLatest: true"] : [])
      return "Topic<\(message)>(\(arguments.joined(separator: ", ")))"
    }
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
