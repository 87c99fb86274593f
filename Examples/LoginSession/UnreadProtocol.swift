/// The listener protocol of the mail service.
protocol UnreadProtocol {
  func unreadChanged(to subjects: [String])
}
