import Multicast

/// A small app: an account store, and the owner of three clients that listen to it.
///
/// A center holds its clients weakly, so they listen for as long as their owner keeps them.
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

  /// The names of the clients that are alive, in the order in which they are called.
  var listening: String {
    center.clients(for: UserProtocol.self)
      .map { String(describing: type(of: $0)) }
      .joined(separator: ", ")
  }

  func play(_ event: Event) {
    print("> \(event)")
    switch event {
    case .login(let userID): store.login(userID)
    case .logout: store.logout()
    }
  }

  /// Adds the audit log once more, and returns what the center says to it.
  func addAuditLogAgain() -> Bool {
    center.add(auditLog, for: UserProtocol.self)
  }

  /// Releases the profile screen, without a word to the center.
  func closeProfileScreen() {
    profileScreen = nil
  }
}
