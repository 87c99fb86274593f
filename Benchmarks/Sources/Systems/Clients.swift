import Dispatch
import Multicast
import Synchronization

// MARK: - Listener protocols

/// The listener protocol of most rows. Any type may conform, so its existential has the general layout, five words with
/// room for a value.
package protocol OpaqueListener: Sendable {
  func event(_ number: Int)
}

/// The same for classes only, so that its existential is two words.
package protocol BoundListener: AnyObject, Sendable {
  func event(_ number: Int)
}

/// Where a client or a closure is called.
package enum Place: Sendable {
  case queue(DispatchQueue)
  case mainActor
}

// MARK: - Clients

/// An object that a benchmark keeps alive and passes to the systems.
package protocol Client: OpaqueListener, BoundListener {
  /// The number of its calls.
  var calls: Int { get }

  /// Observes a topic, with a closure that knows the class of its owner.
  @discardableResult
  func observe(_ topic: Topic<Int>, in center: MulticastCenter) -> TopicObservation
}

/// Creates clients of several classes in turns, so that the compiler cannot devirtualize a call.
package func makeClients(_ count: Int) -> [any Client] {
  let kinds: [() -> any Client] = [Screen.init, Badge.init, Log.init, Cache.init]
  return (0..<count).map { kinds[$0 % kinds.count]() }
}

/// The shared implementation of the classes. The compiler specializes it for each of them.
private protocol Worker: Client {
  func work(_ number: Int)
}

extension Worker {
  func event(_ number: Int) { work(number) }

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

/// A client's work: it counts its calls, and adds up the numbers.
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

/// Creates clients that are called elsewhere, and count down.
package func makeClients(
  _ count: Int, at place: Place, _ countdown: Countdown
) -> [any Client] {
  (0..<count).map { _ in Recipient(place, countdown) }
}

private final class Recipient: Worker {
  let tally = Tally()
  let place: Place
  let countdown: Countdown
  var calls: Int { tally.count }

  init(_ place: Place, _ countdown: Countdown) {
    (self.place, self.countdown) = (place, countdown)
  }

  func observe(_ topic: Topic<Int>, in center: MulticastCenter) -> TopicObservation {
    switch place {
    case .queue(let queue): center.observe(topic, owner: self, on: queue) { $0.event($1) }
    case .mainActor: center.observe(topic, owner: self) { @MainActor in $0.event($1) }
    }
  }

  func work(_ number: Int) {
    tally.add(number)
    countdown.note(number)
  }
}

/// Waits until all clients have received the last of some events.
package final class Countdown: Sendable {
  private let outstanding = Atomic<Int>(0)
  private let last = Atomic<Int>(0)
  private let done = DispatchSemaphore(value: 0)

  package init() {}

  /// Sends events, and returns when this number of clients have received all of them.
  package func wait(for events: Range<Int>, clients: Int, sending send: () -> Void) {
    outstanding.store(clients, ordering: .relaxed)
    last.store(events.upperBound - 1, ordering: .relaxed)
    send()
    if clients > 0 { done.wait() }
  }

  // Relaxed, because `send` hands the events over by a queue or a task, which orders the stores of `wait` before this.
  package func note(_ number: Int) {
    if number == last.load(ordering: .relaxed),
      outstanding.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
    {
      done.signal()
    }
  }
}
