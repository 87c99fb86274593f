import Foundation
import Multicast

/// The observer that a relay has in a `NotificationCenter`. A `MulticastCenter` keeps it: it ends
/// with that center.
///
/// Foundation may release a block with a lock of its own held. Nothing of the user's must end
/// there, since its `deinit` might come back to the `NotificationCenter`. So the block holds this
/// object weakly, and keeps the status, which is two numbers.
final class RelayObserver: @unchecked Sendable {
  // Unchecked for three variables. The weak references are not changed after `init`, and what they
  // lead to is Sendable, or is compared with another object and nothing else. `observer` is written
  // once, before `status` tells of it, and is read by the one caller that `status` lets end the
  // relay.
  //
  // One caller alone, because an observer must not be removed twice: Foundation may know it by a
  // number, which is somebody else's by then.

  /// Delivers a notification. Returns false if it was dropped.
  typealias Delivery = @Sendable (MulticastCenter, Notification) -> Bool

  let status = RelayStatus()

  private let source: NotificationCenter
  private let hasSender: Bool
  private weak var sender: AnyObject?
  private weak var center: MulticastCenter?
  private let deliver: Delivery
  private var observer: (any NSObjectProtocol)?

  init(
    from source: NotificationCenter, sender: AnyObject?, to center: MulticastCenter,
    deliver: @escaping Delivery
  ) {
    self.source = source
    hasSender = sender != nil
    self.sender = sender
    self.center = center
    self.deliver = deliver
  }

  /// Begins to observe. To be called once.
  func start(_ name: Notification.Name) {
    status.publish()
    // The sender is not Foundation's to look after: it knows it by its address, and would take a
    // new object on a dead one's address for it.
    let observer = source.addObserver(forName: name, object: nil, queue: nil) {
      [status, weak self] notification in
      if status.isActive { self?.receive(notification) }
    }
    self.observer = observer
    // A notification may have come in already, from another thread, and have ended the relay.
    if !status.begin() { source.removeObserver(observer) }
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
    guard status.end(), let observer else { return }
    source.removeObserver(observer)
  }

  private var hasLostSender: Bool { hasSender && sender == nil }

  private func receive(_ notification: Notification) {
    guard let center else { return }
    if hasSender {
      guard let sender else { return cancel() }
      guard let object = notification.object, object as AnyObject === sender else { return }
    }
    if !deliver(center, notification) { status.countDropped() }
  }
}
