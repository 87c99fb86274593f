import Foundation
import Multicast

/// An observer without its type, for its ``NotificationRelay``.
protocol RelayEnding: AnyObject, Sendable {
  var isActive: Bool { get }
  func cancel()
}

/// The observer of a relay in a `NotificationCenter`. A `MulticastCenter` owns it, so the relay ends with that center.
///
/// Foundation may release a block with a lock held. If the block retained this object, the `deinit` of an object of the user
/// could run then, and call the `NotificationCenter` with that lock held. So the block refers to this object weakly, and
/// retains only the status, which is two numbers.
final class RelayObserver<Action: Sendable>: RelayEnding, @unchecked Sendable {
  // `@unchecked` for three variables. Only `init` assigns the weak references, and any thread may load them. The center is
  // `Sendable`, and the sender is only compared. `remove` is written once, before `status.begin()` publishes it, and is
  // read by the one caller to which `status.end()` returns true.
  //
  // Only one caller may remove the observer from Foundation, which may identify it by a number that it uses again.

  let status = RelayStatus()

  private let hasSender: Bool
  private weak var sender: AnyObject?
  private weak var center: MulticastCenter?
  private let action: Action
  private var remove: (() -> Void)?

  /// - Parameter action: What to do with a notification. It retains what the closures of the user capture.
  init(sender: AnyObject?, to center: MulticastCenter, _ action: Action) {
    hasSender = sender != nil
    self.sender = sender
    self.center = center
    self.action = action
  }

  /// Starts to observe. Call this once.
  ///
  /// - Parameter observe: Adds an observer to the `NotificationCenter`, and returns a closure that removes
  ///   it.
  func start(_ observe: () -> () -> Void) {
    status.publishObserver()
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

  /// Removes the observer from the `NotificationCenter`, unless another caller has ended the relay.
  private func end() {
    guard status.end(), let remove else { return }
    remove()
  }

  /// Whether the sender has been deallocated.
  private var hasLostSender: Bool { hasSender && sender == nil }

  /// Delivers a notification if the relay's sender sent it.
  ///
  /// - Parameters:
  ///   - isSender: Returns whether the given object has sent it. Foundation compares addresses, and would accept a new object
  ///     at the address of a sender that is deallocated.
  ///   - deliver: Returns false if it dropped the notification.
  func receive(
    where isSender: (AnyObject) -> Bool = { _ in true },
    _ deliver: (Action, MulticastCenter) -> Bool
  ) {
    guard let center else { return }
    if hasSender {
      guard let sender else { return cancel() }
      guard isSender(sender) else { return }
    }
    if !deliver(action, center) { status.countDropped() }
  }
}

/// A token that can end a relay from a `NotificationCenter`.
///
/// You can ignore it. Releasing the token ends nothing, and the token keeps nothing alive. The relay ends
/// with its `MulticastCenter`, with ``cancel()``, or with the sender that it was made for.
public struct NotificationRelay: Sendable {
  let status: RelayStatus
  private weak var observer: (any RelayEnding)?

  init<Action>(_ observer: RelayObserver<Action>) {
    status = observer.status
    self.observer = observer
  }

  /// Whether the relay receives notifications. You may read it on any thread. It retains the sender there for an
  /// instant, if there is one.
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

/// The state of a relay, which its observer, its token and Foundation's block share. None of them keeps another one alive.
///
/// A copy is the same state. This is a structure, because Foundation's block would have to read the properties of an object
/// before ``isActive`` has acquired them.
struct RelayStatus: Sendable {
  /// 0 while the observer is being added to the `NotificationCenter`. ``begin()`` adds 1, and each ``end()`` adds 2.
  let state = Atomic<Int>(0)
  private let drops = Atomic<Int>(0)

  /// Publishes the observer to threads that read ``isActive``. Call this before another thread can read it.
  ///
  /// Foundation's lock publishes it, too, but the thread sanitizer does not see that lock and would report a false race.
  func publishObserver() { state.store(0, ordering: .releasing) }

  var isActive: Bool { state.load(ordering: .acquiring) < 2 }

  /// Notes that there is an observer to remove. Returns false if the relay has ended already. Then the caller removes the
  /// observer.
  func begin() -> Bool { state.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue == 0 }

  /// Ends the relay. Returns true to one caller, which removes the observer; false to all others, or if there is no observer
  /// yet.
  func end() -> Bool { state.wrappingAdd(2, ordering: .acquiringAndReleasing).oldValue == 1 }

  var dropped: Int { drops.load(ordering: .relaxed) }

  // Relaxed, because the number orders nothing else.
  func countDropped() { drops.wrappingAdd(1, ordering: .relaxed) }
}
