import Clients
import Foundation

extension Notification.Name {
  /// What ``Topic/event`` is for the notification center.
  public static let event = Notification.Name("event")
}

/// Foundation's center at its best: the notification carries nothing, and the closure looks for
/// nothing in it.
final class NotificationSystem: System {
  private let center = NotificationCenter()
  private let tokens: [any NSObjectProtocol]

  init(clients: [any Client]) {
    tokens = clients.map { [center] client in
      center.addObserver(forName: .event, object: nil, queue: nil) { [weak client] _ in
        client?.event(1)
      }
    }
  }

  deinit {
    for token in tokens { center.removeObserver(token) }
  }

  func send(_ events: Int) {
    for _ in 0..<events { center.post(name: .event, object: nil) }
  }
}

/// Foundation's center as it has to be used to say something: a dictionary, a key and a cast.
final class NotificationUserInfoSystem: System {
  private let center = NotificationCenter()
  private let tokens: [any NSObjectProtocol]

  init(clients: [any Client]) {
    tokens = clients.map { [center] client in
      center.addObserver(forName: .event, object: nil, queue: nil) { [weak client] notification in
        if let number = notification.userInfo?["number"] as? Int { client?.event(number) }
      }
    }
  }

  deinit {
    for token in tokens { center.removeObserver(token) }
  }

  func send(_ events: Int) {
    for event in 0..<events {
      center.post(name: .event, object: nil, userInfo: ["number": event])
    }
  }
}
