import Multicast

/// A small app with an account store and three clients. A center holds its clients weakly, so they
/// listen as long as this app owns them.
final class App {
  private let center: MulticastCenter
  private let store: AccountStore
  private var profileScreen: ProfileScreen?
  private let badge: Badge
  private let auditLog: AuditLog

  init(center: MulticastCenter = .default) {
    self.center = center
    store = AccountStore(center: center)
    profileScreen = ProfileScreen(center: center)
    badge = Badge(center: center)
    auditLog = AuditLog(center: center)
  }

  /// The names of the clients, in the order of the calls.
  private var listening: String {
    center[UserProtocol.self].clients
      .map { String(describing: type(of: $0)) }
      .joined(separator: ", ")
  }

  func play(_ event: Event) {
    switch event {
    case .login(let userID): store.login(userID)
    case .logout: store.logout()
    }
  }

  /// Adds the audit log again, and returns the center's answer.
  func addAuditLogAgain() -> Bool {
    center.add(auditLog, for: UserProtocol.self)
  }

  /// Releases the profile screen, without removing it from the center.
  func closeProfileScreen() {
    say("App", "releases the profile screen")
    profileScreen = nil
  }

  /// Plays the events of a file, or of standard input for nil.
  func play(_ path: String?) throws(UserError) {
    defer { extendLifetime(self) }
    // Read all lines first: an error in the last one is found before any event is played.
    let events = try Event.all(in: path)
    print(
      """
      A login session: \(events.count) \(events.count == 1 ? "event" : "events") from \
      \(path ?? "standard input").
      An account store announces them to MulticastCenter.default, which calls its clients:
      \(listening).

      """)
    for event in events { play(event) }
    print("\nStill listening: \(listening).")
  }
}
