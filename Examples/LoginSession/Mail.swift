import Dispatch
import Multicast

// MARK: - A topic, which an inbox observes with a closure

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
      say("Inbox", "\"\(mail.subject)\", \(inbox.unread) unread")
    }
  }
}

// MARK: - A protocol, whose clients are called in their homes

protocol UnreadProtocol {
  func unreadChanged(to subjects: [String])
}

/// Fetches mail in the background. It does not know the homes of its clients.
struct MailService {
  let center: MulticastCenter

  /// Returns when every client has been called, and what the clients post has been delivered.
  @concurrent func fetch() async {
    let subjects = ["Minutes", "You have won!", "Lunch"]
    say("MailService", "post: \(subjects.count) unread")
    center.post(UnreadProtocol.self) { $0.unreadChanged(to: subjects) }
    await center.settled()
  }
}

/// The clients of the mail service, in the order in which they are added.
@MainActor struct MailClients {
  private let log: MailLog
  private let filter: SpamFilter
  private let label: UnreadLabel
  private let archive: Archive

  init(center: MulticastCenter) {
    log = MailLog(center: center)
    filter = SpamFilter(center: center)
    label = UnreadLabel(center: center)
    archive = Archive(center: center)
  }
}

/// A client without a home: every thread that posts calls it, so it has no state.
final class MailLog: UnreadProtocol, Sendable {
  init(center: MulticastCenter) { center.add(self, for: UnreadProtocol.self, on: nil) }

  func unreadChanged(to subjects: [String]) { say("MailLog", "\(subjects.count) unread") }
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
    // The post reaches this client, too. It posts only after a change, so this ends.
    guard wanted != subjects else { return }
    say("SpamFilter", "post: \(wanted.count) unread, without spam")
    center.post(UnreadProtocol.self) { $0.unreadChanged(to: wanted) }
  }
}

/// A client on the main actor that shows the latest message.
@MainActor final class UnreadLabel: @MainActor UnreadProtocol {
  init(center: MulticastCenter) { center.add(self, for: UnreadProtocol.self) }

  func unreadChanged(to subjects: [String]) { say("UnreadLabel", "\(subjects.count) unread") }
}

/// A client on a queue, which protects its state.
final class Archive: UnreadProtocol {
  private var subjects: [String] = []

  init(center: MulticastCenter) {
    let queue = DispatchQueue(label: "archive")
    queue.setSpecific(key: homeName, value: "archive queue")
    center.add(self, for: UnreadProtocol.self, on: queue)
  }

  func unreadChanged(to subjects: [String]) {
    self.subjects = subjects
    say("Archive", "\(subjects.count) unread")
  }
}
