import Foundation
import Multicast

/// What a ``NotificationRelay`` knows about its observer.
protocol RelayEnding: AnyObject, Sendable {
  var isActive: Bool { get }
  func cancel()
}

/// A relay's observer in a `NotificationCenter`. A `MulticastCenter` keeps it, so it ends with that center.
///
/// Foundation may release a block with a lock held. The `deinit` of a user's object could then call the
/// `NotificationCenter`. So the block holds this object weakly, and retains only the status, which is two
/// numbers.
final class RelayObserver<Delivery: Sendable>: RelayEnding, @unchecked Sendable {
  // Unchecked for three variables. `init` alone assigns the weak references. Their objects are Sendable or
  // only compared. `remove` is written once, before `status` announces it, and called by the one caller that
  // `status` lets end the relay.
  //
  // Only one caller may remove the observer, because Foundation may identify it by a number that it reuses.

  let status = RelayStatus()

  private let hasSender: Bool
  private weak var sender: AnyObject?
  private weak var center: MulticastCenter?
  private let delivery: Delivery
  private var remove: (() -> Void)?

  /// - Parameter delivery: Keeps what the user's closures capture.
  init(sender: AnyObject?, to center: MulticastCenter, _ delivery: Delivery) {
    hasSender = sender != nil
    self.sender = sender
    self.center = center
    self.delivery = delivery
  }

  /// Starts to observe. Called once.
  ///
  /// - Parameter observe: Adds an observer to the `NotificationCenter`, and returns a closure that removes
  ///   it.
  func start(_ observe: () -> () -> Void) {
    status.publish()
    let remove = observe()
    self.remove = remove
    // A notification on another thread may have ended the relay by now.
    if !status.begin() { remove() }
  }

  /// Whether the relay receives notifications.
  var isActive: Bool { status.isActive && !hasLostSender }

  /// Ends the relay and detaches it from its center.
  func cancel() {
    end()
    center?.detach(self)
  }

  deinit { end() }

  private func end() {
    guard status.end(), let remove else { return }
    remove()
  }

  private var hasLostSender: Bool { hasSender && sender == nil }

  /// Delivers a notification if the relay's sender sent it.
  ///
  /// - Parameters:
  ///   - isSender: Whether the given object sent it. Foundation compares addresses and would accept a new
  ///     object at a deallocated sender's address.
  ///   - deliver: Returns false if it dropped the notification.
  func receive(
    where isSender: (AnyObject) -> Bool = { _ in true },
    _ deliver: (Delivery, MulticastCenter) -> Bool
  ) {
    guard let center else { return }
    if hasSender {
      guard let sender else { return cancel() }
      guard isSender(sender) else { return }
    }
    if !deliver(delivery, center) { status.countDropped() }
  }
}
