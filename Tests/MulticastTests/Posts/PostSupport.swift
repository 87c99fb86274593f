import Dispatch
import Multicast
import TestSupport
import Testing

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

/// An actor that runs on a queue, and can so be entered from outside.
actor QueueActor {
  /// An executor of the kind that there was before `isIsolatingCurrentContext`.
  private final class Executor: SerialExecutor {
    let place = Place()
    let jobs = Collected<Void>()

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      // Held here: the actor, and this with it, may end with the job.
      let jobs = jobs
      place.queue.async { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
      jobs.add(())
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(place.queue)) }
  }

  private let executor = Executor()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  nonisolated var place: Place { executor.place }

  /// The jobs that have come here so far.
  nonisolated var jobs: Collected<Void> { executor.jobs }
}

/// A kind of home, for tests that hold in several.
enum HomeKind: CaseIterable, Sendable {
  case none, queue, otherQueue, mainActor, task
}

/// What stands for each kind of home in a test.
struct Homes: Sendable {
  let one = Place("one")
  let two = Place("two", concurrent: true)

  fileprivate func expectCurrent(_ kind: HomeKind) {
    switch kind {
    case .queue: #expect(one.isCurrent)
    case .otherQueue: #expect(two.isCurrent)
    case .mainActor: MainActor.assertIsolated()
    case .none, .task: break
    }
  }
}

extension MulticastCenter {
  /// Observes a topic in a home of a kind, instead of the handler that has the same id.
  @discardableResult
  func observe<Message>(
    _ topic: Topic<Message>, owner: Owner, id: String = "", in kind: HomeKind, of homes: Homes,
    _ handle: @escaping @Sendable (Message) -> Void
  ) -> TopicObservation {
    let handler: @Sendable (Owner, Message) -> Void = { _, message in
      homes.expectCurrent(kind)
      handle(message)
    }
    return switch kind {
    case .none: observe(topic, owner: owner, id: id, handler)
    case .queue: observe(topic, owner: owner, id: id, on: homes.one.queue, handler)
    case .otherQueue: observe(topic, owner: owner, id: id, on: homes.two.queue, handler)
    case .mainActor: observe(topic, owner: owner, id: id, on: .main, handler)
    case .task:
      observe(topic, owner: owner, id: id) { owner, message in
        await Task.yield()
        handler(owner, message)
      }
    }
  }
}

/// Something that happens once, and that any thread or task can wait for.
final class Signal: Sendable {
  private let happened = Collected<Void>()
  private let semaphore = DispatchSemaphore(value: 0)

  func send() {
    happened.add(())
    semaphore.signal()
  }

  /// Blocks the thread.
  func wait() {
    semaphore.wait()
    semaphore.signal()
  }

  /// Lets others run meanwhile.
  func wait() async { await happened.wait(for: 1) }
}

/// Counts sentinels that are alive.
final class Alive: Sendable {
  private let count = Locked((now: 0, most: 0))
  var now: Int { count.withLock { $0.now } }
  var most: Int { count.withLock { $0.most } }

  func makeSentinel() -> Sentinel {
    count.withLock { count in
      count.now += 1
      count.most = max(count.most, count.now)
    }
    return Sentinel { self.count.withLock { $0.now -= 1 } }
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
