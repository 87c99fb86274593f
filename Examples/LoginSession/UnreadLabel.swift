import Multicast

/// A client on the main actor that shows what it heard last.
@MainActor final class UnreadLabel: @MainActor UnreadProtocol {
  init(center: MulticastCenter) {
    center.add(self, for: UnreadProtocol.self)
  }

  func unreadChanged(to subjects: [String]) {
    print("  UnreadLabel: \(subjects.count) unread")
  }
}
