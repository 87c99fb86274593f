import Multicast

/// The listener protocol of the mail service.
protocol UnreadProtocol {
  func unreadChanged(to subjects: [String])
}

/// Fetches mail in the background. It does not know where its listeners live.
struct MailService {
  let center: MulticastCenter

  /// Returns when every client has been called.
  @concurrent func fetch() async {
    let subjects = ["Minutes", "You have won!", "Lunch"]
    await center.postAndWait(UnreadProtocol.self) { $0.unreadChanged(to: subjects) }
  }
}

extension MailService {
  /// Fetches mail for a spam filter and a label, which live on the main actor.
  @MainActor static func play(in center: MulticastCenter) async {
    let filter = SpamFilter(center: center)
    let label = UnreadLabel(center: center)
    print("> mail, found in the background")
    await MailService(center: center).fetch()
    extendLifetime((filter, label))
  }
}
