import Multicast

/// A message of the topic that the inbox observes.
struct Mail: Sendable {
  let subject: String
}

extension Topic where Message == Mail {
  static var mail: Self { Topic("mail") }
}

/// Observes a topic with a closure that is written on the main actor, and runs there.
@MainActor final class Inbox {
  private var unread = 0

  init(center: MulticastCenter) {
    center.observe(.mail, owner: self) { inbox, mail in
      inbox.unread += 1
      print("  Inbox: \"\(mail.subject)\", \(inbox.unread) unread")
    }
  }
}
