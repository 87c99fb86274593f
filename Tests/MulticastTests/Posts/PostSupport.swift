import Dispatch
import Multicast
import TestSupport

/// A dispatch queue that can be asked whether code runs on it.
final class Place: Sendable {
  let queue: DispatchQueue
  private let key = DispatchSpecificKey<Bool>()

  init(_ label: String = "place", concurrent: Bool = false) {
    queue = DispatchQueue(label: label, attributes: concurrent ? .concurrent : [])
    queue.setSpecific(key: key, value: true)
  }

  var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}

/// Something that happens once, and that any thread or task can wait for.
final class Signal: Sendable {
  private let hasHappened = Locked(false)
  private let semaphore = DispatchSemaphore(value: 0)

  func send() {
    hasHappened.withLock { $0 = true }
    semaphore.signal()
  }

  /// Blocks the thread.
  func wait() {
    semaphore.wait()
    semaphore.signal()
  }

  /// Lets others run meanwhile.
  func wait() async {
    while !hasHappened.withLock({ $0 }) { await Task.yield() }
  }
}

/// Collects numbers.
final class Numbers: Sendable {
  private let numbers = Locked<[Int]>([])

  func add(_ number: Int) { numbers.withLock { $0.append(number) } }

  var all: [Int] { numbers.withLock { $0 } }

  func wait(for count: Int) async {
    while all.count < count { await Task.yield() }
  }
}

/// A protocol whose clients are called on any thread.
protocol WorkerProtocol: Sendable {
  func work(_ number: Int)
  func workSlowly(_ number: Int) async
}

extension WorkerProtocol {
  func work(_ number: Int) {}
  func workSlowly(_ number: Int) async {}
}

/// A client that does with a number what the test says.
final class Worker: WorkerProtocol {
  private let onWork: @Sendable (Int) -> Void
  private let onSlowWork: @Sendable (Int) async -> Void

  init(
    onWork: @escaping @Sendable (Int) -> Void = { _ in },
    onSlowWork: @escaping @Sendable (Int) async -> Void = { _ in }
  ) {
    self.onWork = onWork
    self.onSlowWork = onSlowWork
  }

  func work(_ number: Int) { onWork(number) }
  func workSlowly(_ number: Int) async { await onSlowWork(number) }
}

/// A client of a protocol that is not Sendable, for any thread.
final class Listener: PingProtocol, Sendable {
  private let onPing: @Sendable (Int) -> Void

  init(_ onPing: @escaping @Sendable (Int) -> Void) {
    self.onPing = onPing
  }

  func ping(_ number: Int) { onPing(number) }
}

protocol PongProtocol {
  func pong(_ number: Int)
}

/// A client of two protocols.
final class Both: PingProtocol, PongProtocol {
  private let journal: Journal

  init(_ journal: Journal) {
    self.journal = journal
  }

  func ping(_ number: Int) { journal.write("ping\(number)") }
  func pong(_ number: Int) { journal.write("pong\(number)") }
}
