import Foundation
import Multicast

/// What a ``NotificationRelay`` knows about its observer.
protocol RelayEnding: AnyObject, Sendable {
  var isActive: Bool { get }
  func cancel()
}

/// The observer that a relay has in a `NotificationCenter`. A `MulticastCenter` keeps it: it ends
/// with that center.
///
/// Foundation may release a block with a lock of its own held. Nothing of the user's must end
/// there, since its `deinit` might come back to the `NotificationCenter`. So the block holds this
/// object weakly, and keeps the status, which is two numbers.
final class RelayObserver<Delivery: Sendable>: RelayEnding, @unchecked Sendable {
  // Unchecked for three variables. The weak references are not changed after `init`, and what they
  // lead to is Sendable, or is compared with another object and nothing else. `remove` is written
  // once, before `status` tells of it, and is called by the one caller that `status` lets end the
  // relay.
  //
  // One caller alone, because an observer must not be removed twice: Foundation may know it by a
  // number, which is somebody else's by then.

  let status = RelayStatus()

  private let hasSender: Bool
  private weak var sender: AnyObject?
  private weak var center: MulticastCenter?
  private let delivery: Delivery
  private var remove: (() -> Void)?

  /// - Parameter delivery: What delivers. It keeps what the user's closures capture.
  init(sender: AnyObject?, to center: MulticastCenter, _ delivery: Delivery) {
    hasSender = sender != nil
    self.sender = sender
    self.center = center
    self.delivery = delivery
  }

  /// Begins to observe. To be called once.
  ///
  /// - Parameter observe: Adds an observer to the `NotificationCenter`, and returns what removes it.
  func start(_ observe: () -> () -> Void) {
    status.publish()
    let remove = observe()
    self.remove = remove
    // A notification may have come in already, from another thread, and have ended the relay.
    if !status.begin() { remove() }
  }

  /// Whether notifications are taken.
  var isActive: Bool { status.isActive && !hasLostSender }

  /// Ends the relay, and leaves the center that keeps this.
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

  /// Delivers what has come in, if its sender is the relay's.
  ///
  /// - Parameters:
  ///   - isSender: Whether the relay's sender has sent it. Foundation knows a sender by its address, and
  ///     would take a new object on a dead one's address for it.
  ///   - deliver: Returns false if it was dropped.
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
