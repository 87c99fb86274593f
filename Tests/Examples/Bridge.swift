import Foundation
import Multicast
import MulticastFoundation

protocol PowerProtocol {
  func powerStateChanged()
}

protocol DownloadProtocol {
  func downloadDidProgress(_ fraction: Double)
}

struct UserLogin: Sendable {
  let id: UInt
}

struct CloseCode: Sendable {
  let number: Int
}

extension Topic where Message == UserLogin {
  static var userLogin: Self { Topic("userLogin") }
}

extension Notification.Name {
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
