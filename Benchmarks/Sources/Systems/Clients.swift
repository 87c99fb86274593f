import Dispatch
import Multicast
import Synchronization

// MARK: - Listener protocols

/// The listener protocol of most rows: any type may conform, so its existential has the general
/// layout, five words with room for a value.
package protocol OpaqueListener: Sendable {
  func event(_ number: Int)
}

/// The same for classes only: its existential is two words.
package protocol BoundListener: AnyObject, Sendable {
  func event(_ number: Int)
}

/// A second protocol, for two that are notified at the same time.
package protocol OtherListener: AnyObject, Sendable {
  func otherEvent(_ number: Int)
}

/// What a benchmark keeps alive and hands to the systems.
package protocol Counting: AnyObject, Sendable {
  /// How often it was called.
  var calls: Int { get }
}

// MARK: - Clients that are called at once

package protocol Client: Counting, OpaqueListener, BoundListener, OtherListener {
  /// Observes a topic, as an object does that knows its own class.
  @discardableResult
  func observe(_ topic: Topic<Int>, in center: MulticastCenter) -> TopicObservation
}

/// Makes clients, of several classes by turns, so that no call can be devirtualised.
package func makeClients(_ count: Int) -> [any Client] {
  let kinds: [() -> any Client] = [Screen.init, Badge.init, Log.init, Cache.init]
  return (0..<count).map { kinds[$0 % kinds.count]() }
}

/// What the classes share. The compiler writes it once for each of them.
private protocol Worker: Client {
  func work(_ number: Int)
}

extension Worker {
  func event(_ number: Int) { work(number) }

  func otherEvent(_ number: Int) { work(number) }

  func observe(_ topic: Topic<Int>, in center: MulticastCenter) -> TopicObservation {
    center.observe(topic, owner: self) { owner, number in owner.event(number) }
  }
}

private final class Screen: Worker {
  let tally = Tally()
  var calls: Int { tally.count }
  func work(_ number: Int) { tally.add(number) }
}

private final class Badge: Worker {
  let tally = Tally()
  var calls: Int { tally.count }
  func work(_ number: Int) { tally.add(number &+ 1) }
}

private final class Log: Worker {
  let tally = Tally()
  var calls: Int { tally.count }
  func work(_ number: Int) { tally.add(number &+ 2) }
}

private final class Cache: Worker {
  let tally = Tally()
  var calls: Int { tally.count }
  func work(_ number: Int) { tally.add(number &+ 3) }
}

/// A client's work: it counts its calls, and adds the numbers up.
///
/// A load and a store are plain instructions on most machines, but the compiler neither drops them
/// nor moves them out of a loop. Two threads may race without undefined behaviour. They lose counts,
/// so only the counts of one thread are checked.
private struct Tally: ~Copyable {
  private let calls = Atomic<Int>(0)
  private let sum = Atomic<Int>(0)

  var count: Int { calls.load(ordering: .relaxed) }

  @inline(__always)
  borrowing func add(_ number: Int) {
    calls.store(calls.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    sum.store(sum.load(ordering: .relaxed) &+ number, ordering: .relaxed)
  }
}

// MARK: - Clients that are called later

/// A client that is called elsewhere. It reports its last message, which is 0.
package final class Recipient: BoundListener, Counting {
  private let tally = Tally()
  private let countdown: Countdown

  package init(_ countdown: Countdown) { self.countdown = countdown }

  package var calls: Int { tally.count }

  package func event(_ number: Int) {
    tally.add(number)
    if number == 0 { countdown.note() }
  }
}

/// Waits until something has happened a number of times.
package final class Countdown: Sendable {
  private let outstanding = Atomic<Int>(0)
  private let done = DispatchSemaphore(value: 0)

  package init() {}

  package func begin(_ count: Int) { outstanding.store(count, ordering: .relaxed) }

  package func note() {
    if outstanding.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.signal() }
  }

  package func wait() { done.wait() }
}
