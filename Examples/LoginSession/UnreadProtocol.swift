/// A listener protocol for what a mail service finds in the background.
protocol UnreadProtocol {
  func unreadChanged(to subjects: [String])
}
