import TestSupport
import Foundation
import Multicast
import Synchronization

/// The listener protocol of most tests.
protocol PowerProtocol {
  func powerChanged(_ level: Int)
}

/// A client that writes down its calls and can do something in them.
final class Client: PowerProtocol {
  private let name: String
  private let journal: Journal
  var onChange: ((Int) -> Void)?

  init(_ name: String, _ journal: Journal) {
    self.name = name
    self.journal = journal
  }

  func powerChanged(_ level: Int) {
    journal.write("\(name)\(level)")
    onChange?(level)
  }
}

/// A client for any thread, which counts its calls.
final class Counter: PowerProtocol, Sendable {
  private let number = Atomic<Int>(0)

  var calls: Int { number.load(ordering: .relaxed) }

  func powerChanged(_ level: Int) {
    number.add(1, ordering: .relaxed)
  }
}

/// The message of most tests.
struct Power: Hashable, Sendable {
  let level: Int
}

extension Topic where Message == Power {
  static var power: Self { Topic("power") }
}

extension Notification.Name {
  static let power = Notification.Name("power")
  static let otherPower = Notification.Name("otherPower")
}

extension Notification {
  /// The level that ``NotificationCenter/postPower(_:as:object:)`` puts in.
  var level: Int? { userInfo?["level"] as? Int }

  var power: Power? { level.map { Power(level: $0) } }
}

extension NotificationCenter {
  func postPower(_ level: Int, as name: Notification.Name = .power, object: Any? = nil) {
    post(name: name, object: object, userInfo: ["level": level])
  }
}

/// An object that sends notifications.
final class Sender: Sendable {}

/// An owner for handlers that run anywhere.
final class Owner: Sendable {}

extension MulticastCenter {
  /// Adds a client that lives anywhere, and keeps it.
  @discardableResult
  func adding<Client: PowerProtocol>(_ client: Client) -> Client {
    self[PowerProtocol.self].add(kept(client), isolation: nil)
    return client
  }
}
