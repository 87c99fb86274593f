import Foundation

extension Notification.Name {
  static let userLogin = Notification.Name("userLogin")
}

// the example
