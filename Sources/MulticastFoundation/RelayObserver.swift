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

/// A token that can end a relay from a `NotificationCenter`.
///
/// You can ignore it. Releasing the token ends nothing, and the token keeps nothing alive. The relay ends
/// with its `MulticastCenter`, with ``cancel()``, or with the sender that it was made for.
public struct NotificationRelay: Sendable {
  let status: RelayStatus
  private weak var observer: (any RelayEnding)?

  init<Delivery>(_ observer: RelayObserver<Delivery>) {
    status = observer.status
    self.observer = observer
  }

  /// Whether the relay receives notifications.
  public var isActive: Bool { observer?.isActive ?? false }

  /// The number of notifications for which the relay's closure returned nil.
  ///
  /// Notifications without listeners, and those whose `post` was refused, do not count. You can read it after
  /// the relay has ended.
  public var dropped: Int { status.dropped }

  /// Ends the relay, and removes its observer from the `NotificationCenter`.
  ///
  /// After this returns, the relay receives no notification on this thread. A delivery that is already
  /// running on another thread finishes, and what the relay has posted before still reaches its clients and
  /// handlers. You may call this in the relay's closures, and more than once.
  ///
  /// - Complexity: That of removing an observer from the `NotificationCenter`.
  public func cancel() { observer?.cancel() }
}

/// The state of a relay, shared by its observer, its token, and Foundation's block. None of them keeps
/// another alive. A copy is the same state. It is no object, whose properties Foundation's block would read before
/// ``isActive`` has acquired them.
struct RelayStatus: Sendable {
  /// 0 while the observer is being added to the `NotificationCenter`. Then 1 more, and 2 more with each end.
  let state = Atomic<Int>(0)
  private let drops = Atomic<Int>(0)

  /// Publishes the observer to threads that read ``isActive``. Called before others can read.
  ///
  /// Foundation's lock does this too, but the thread sanitizer does not see that lock and would report a
  /// false race.
  func publish() { state.store(0, ordering: .releasing) }

  var isActive: Bool { state.load(ordering: .acquiring) < 2 }

  /// Records that there is an observer to remove. Returns false if the relay has ended. The caller must then
  /// remove the observer.
  func begin() -> Bool { state.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue == 0 }

  /// Ends the relay. Returns true to a single caller, if there is an observer to remove.
  func end() -> Bool { state.wrappingAdd(2, ordering: .acquiringAndReleasing).oldValue == 1 }

  var dropped: Int { drops.load(ordering: .relaxed) }

  func countDropped() { drops.wrappingAdd(1, ordering: .relaxed) }
}
