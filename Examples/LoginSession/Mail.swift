import Multicast

// A topic: an inbox observes it with a closure.

struct Mail: Sendable {
  let subject: String
}

extension Topic where Message == Mail {
  static var mail: Self { Topic("mail") }
}

/// Its handler is written on the main actor, and runs there.
@MainActor final class Inbox {
  private var unread = 0

  init(center: MulticastCenter) {
    center.observe(.mail, owner: self) { inbox, mail in
      inbox.unread += 1
      print("  Inbox: \"\(mail.subject)\", \(inbox.unread) unread")
    }
  }
}

// A protocol: a service posts to its clients in the background.

protocol UnreadProtocol {
  func unreadChanged(to subjects: [String])
}

/// Fetches mail in the background. It does not know where its listeners live.
struct MailService {
  let center: MulticastCenter

  /// Returns when every client has been called.
  @concurrent func fetch() async {
    let subjects = ["Minutes", "You have won!", "Lunch"]
    await center.post(UnreadProtocol.self) { $0.unreadChanged(to: subjects) }.delivered()
  }

  /// Fetches mail for a spam filter and a label, which live on the main actor.
  @MainActor static func play(in center: MulticastCenter) async {
    let filter = SpamFilter(center: center)
    let label = UnreadLabel(center: center)
    print("> mail, found in the background")
    await MailService(center: center).fetch()
    extendLifetime((filter, label))
  }
}

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
