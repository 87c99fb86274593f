@testable import MulticastFoundation

/// What shows whether Foundation still has a relay's observer, once the relay's tokens are gone.
final class RelayTrace: @unchecked Sendable {
  // Unchecked, because a weak reference is a variable. It is not changed after `init`.
  //
  // The block that Foundation keeps is the last to own the status.
  private weak var status: RelayStatus?

  init(_ relay: NotificationRelay) {
    status = relay.status
  }

  var isObserving: Bool { status != nil }
}
