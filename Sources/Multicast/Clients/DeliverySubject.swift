/// The listener protocol or the topic of a delivery, for reports. The description is made when it is read, because most
/// deliveries are not reported.
enum DeliverySubject: Sendable, CustomStringConvertible {
  case listener(any Any.Type)
  case topic(name: String, keepsLatest: Bool, message: any Any.Type)

  var description: String {
    switch self {
    case .listener(let type): return "\(type)"
    case .topic(let name, let keepsLatest, let message):
      let name = name.isEmpty ? [] : [String(reflecting: name)]
      let arguments = name + (keepsLatest ? ["keepsLatest: true"] : [])
      return "Topic<\(message)>(\(arguments.joined(separator: ", ")))"
    }
  }
}
