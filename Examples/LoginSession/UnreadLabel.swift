import Multicast

/// A client on the main actor that shows the latest message.
@MainActor final class UnreadLabel: @MainActor UnreadProtocol {
  init(center: MulticastCenter) {
    center.add(self, for: UnreadProtocol.self)
  }

  func unreadChanged(to subjects: [String]) {
    print("  UnreadLabel: \(subjects.count) unread")
  }
}
