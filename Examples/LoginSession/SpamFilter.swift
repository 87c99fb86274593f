import Multicast

/// A client on the main actor that corrects a message with a post of its own.
@MainActor final class SpamFilter: @MainActor UnreadProtocol {
  private let center: MulticastCenter

  init(center: MulticastCenter) {
    self.center = center
    center.add(self, for: UnreadProtocol.self)
  }

  func unreadChanged(to subjects: [String]) {
    let wanted = subjects.filter { $0 != "You have won!" }
    // The post reaches this client too. It posts only after a change, so this ends.
    guard wanted != subjects else { return }
    print("  SpamFilter: takes the spam out")
    center.post(UnreadProtocol.self) { $0.unreadChanged(to: wanted) }
  }
}

/// A client on the main actor that shows the latest message.
@MainActor final class UnreadLabel: @MainActor UnreadProtocol {
  init(center: MulticastCenter) { center.add(self, for: UnreadProtocol.self) }

  func unreadChanged(to subjects: [String]) {
    print("  UnreadLabel: \(subjects.count) unread")
  }
}
