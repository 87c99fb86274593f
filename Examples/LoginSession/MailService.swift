import Multicast

/// Fetches mail in the background. It does not know where its listeners live.
struct MailService {
  let center: MulticastCenter

  /// Returns when every client has been called.
  @concurrent func fetch() async {
    let subjects = ["Minutes", "You have won!", "Lunch"]
    await center.postAndWait(UnreadProtocol.self) { $0.unreadChanged(to: subjects) }
  }
}
