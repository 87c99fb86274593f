import Foundation
import Multicast
import MulticastFoundation

nonisolated protocol PowerProtocol {
  func powerStateChanged()
}

nonisolated protocol DownloadProtocol {
  func downloadDidProgress(_ fraction: Double)
}

nonisolated struct UserLogin: Sendable {
  let id: UInt
}

nonisolated struct CloseCode: Sendable {
  let number: Int
}

nonisolated extension Topic where Message == UserLogin {
  static var userLogin: Self { Topic("userLogin") }
}

nonisolated extension Notification.Name {
  static let powerStateDidChange = Notification.Name("powerStateDidChange")
  static let downloadDidProgress = Notification.Name("downloadDidProgress")
  static let connectionDidClose = Notification.Name("connectionDidClose")
}

final class Account: Sendable {}
final class Connection: Sendable {}

let center = MulticastCenter()
let account = Account()
let connection = Connection()

// the example
