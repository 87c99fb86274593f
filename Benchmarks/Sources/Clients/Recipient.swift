import Dispatch
import Synchronization

/// A client that is called elsewhere, later. It tells when it had the last message, which is 0.
public final class Recipient: BoundListener {
  private let tally = Tally()
  private let arrival: Arrival

  /// Creates a recipient that tells when it had the last message.
  public init(_ arrival: Arrival) {
    self.arrival = arrival
  }

  /// How often it was called.
  public var calls: Int { tally.count }

  /// Takes a message.
  public func event(_ number: Int) {
    tally.add(number)
    if number == 0 { arrival.note() }
  }
}

/// Where to wait until every recipient had the last message.
public final class Arrival: Sendable {
  private let outstanding = Atomic<Int>(0)
  private let done = DispatchSemaphore(value: 0)

  /// Creates an arrival that expects nobody.
  public init() {}

  /// Begins to count: this many recipients will have a last message, one at least.
  public func expect(_ count: Int) {
    outstanding.store(count, ordering: .relaxed)
  }

  fileprivate func note() {
    if outstanding.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.signal() }
  }

  /// Waits until the expected recipients had their last message.
  public func wait() {
    done.wait()
  }
}
