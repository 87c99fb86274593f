import Dispatch
import Multicast
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The listener protocol of most tests. It is not restricted to classes, so that its existential has the
/// opaque layout.
protocol PingProtocol {
  func ping(_ number: Int)
}

/// A client that writes its name into a journal when it is called, and can run a closure.
final class Client: PingProtocol {
  let name: String
  private let journal: Journal
  var onPing: ((Int) -> Void)?

  init(_ name: String, _ journal: Journal) {
    self.name = name
    self.journal = journal
  }

  func ping(_ number: Int) {
    journal.write(name)
    onPing?(number)
  }
}

/// A client for any thread, which counts its calls.
final class Counter: PingProtocol, Sendable {
  private let number = Atomic<Int>(0)

  var calls: Int { number.load(ordering: .relaxed) }

  func ping(_ number: Int) {
    self.number.wrappingAdd(1, ordering: .relaxed)
  }
}

extension MulticastCenter {
  /// Adds a client without a home, and retains it.
  @discardableResult
  func adding<Client: PingProtocol>(_ client: Client) -> Client {
    self[PingProtocol.self].adding(client)
  }

  /// Adds a client without a home, and retains it.
  @discardableResult
  func adding(_ client: Worker) -> Worker {
    self[WorkerProtocol.self].adding(client)
  }
}

extension MulticastDelegate<any PingProtocol> {
  /// Adds a client without a home, and retains it.
  @discardableResult
  func adding<Client: PingProtocol>(_ client: Client) -> Client {
    add(kept(client), on: nil)
    return client
  }
}

extension MulticastDelegate<any WorkerProtocol> {
  /// Adds a client without a home, and retains it.
  @discardableResult
  func adding(_ client: Worker) -> Worker {
    add(kept(client))
    return client
  }
}

/// Adds one client for each name, in this order.
func addClients(
  _ names: String, to delegate: MulticastDelegate<any PingProtocol>, _ journal: Journal
) -> [Client] {
  names.map { name in
    let client = Client(String(name), journal)
    delegate.add(client)
    return client
  }
}

/// The message of most tests.
struct Login: Hashable, Sendable {
  let id: Int
}

extension Topic where Message == Login {
  static var login: Self { Topic("login") }
}

/// An owner for handlers that run anywhere.
final class Owner: Sendable {
  let name: String
  init(_ name: String = "owner") { self.name = name }
}

/// An owner for handlers that run on the main actor.
@MainActor final class Screen {
  var shown: [Int] = []
}

extension ExitTest.Condition {
  /// The exit condition of a fatal error. Processes started after this print no backtrace, because each one takes
  /// seconds.
  static var crash: Self {
    setenv("SWIFT_BACKTRACE", "enable=no", 0)
    return .failure
  }
}

extension [PartialKeyPath<ExitTest.Result> & Sendable] {
  /// Observes the standard error of the process of an exit test.
  static var errors: Self { [\.standardErrorContent] }
}

/// Returns the text that the process of an exit test has written to standard error.
func text(_ result: ExitTest.Result?) -> String {
  String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
}

/// The process that a test runs in.
enum Process {
  /// Whether a sanitizer is linked. Its shadow memory and its quarantine hide how much memory the
  /// program itself uses.
  static var isSanitized: Bool {
    ["__asan_init", "__tsan_init"].contains { loadedFunction($0) != nil }
  }

  /// The address of a function of any loaded library; nil if none exports it.
  private static func loadedFunction(_ name: String) -> UnsafeMutableRawPointer? {
    dlsym(dlopen(nil, RTLD_NOW), name)
  }

  /// Whether tests that repeat or measure do so at full size: in a release build, or if the environment contains
  /// `MULTICAST_FULL_SIZE=1`. Never under a sanitizer.
  static let isFullSize: Bool = {
    #if DEBUG
      let isWanted = getenv("MULTICAST_FULL_SIZE").map { String(cString: $0) } == "1"
    #else
      let isWanted = true
    #endif
    return isWanted && !isSanitized
  }()

  /// Returns the number of rounds, at full size or otherwise.
  static func rounds(_ full: Int, quick: Int) -> Int { isFullSize ? full : quick }

  /// Whether the runtime can be asked if code runs inside an actor.
  static var knowsCurrentActor: Bool {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { true } else { false }
  }

  /// Yields the processor, so that a thread for which this one waits can run.
  static func letOthersRun() { sched_yield() }

  /// A number for the current thread, unlike that of every other one that is alive.
  static var currentThread: UInt {
    #if canImport(Glibc)
      pthread_self()
    #else
      UInt(bitPattern: pthread_self())
    #endif
  }

  /// The resident memory of the process in bytes, or nil if the system does not report it.
  static var residentBytes: Int? {
    #if os(Linux)
      // Return free memory to the system, so that memory that is used next counts.
      if let trim = loadedFunction("malloc_trim") {
        _ = unsafeBitCast(trim, to: (@convention(c) (Int) -> CInt).self)(0)
      }
      guard let file = fopen("/proc/self/statm", "r") else { return nil }
      defer { fclose(file) }
      var line = [UInt8](repeating: 0, count: 256)
      let length = fread(&line, 1, line.count, file)
      // The first number is that of all pages, the second that of the resident ones.
      let numbers = String(decoding: line.prefix(length), as: UTF8.self).split(separator: " ")
      return numbers.dropFirst().first.flatMap { Int($0) }.map { $0 * Int(getpagesize()) }
    #else
      return nil
    #endif
  }
}

/// A dispatch queue as the home of listeners. It knows whether code runs in it.
final class TestHome: Sendable {
  let queue: DispatchQueue
  private let key = DispatchSpecificKey<Bool>()

  init(_ label: String = "test home", concurrent: Bool = false) {
    queue = DispatchQueue(label: label, attributes: concurrent ? .concurrent : [])
    queue.setSpecific(key: key, value: true)
  }

  var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}

/// An actor that runs on a queue, so that a test can enter it with `assumeIsolated`.
actor QueueActor {
  /// An executor without `isIsolatingCurrentContext`, as older programs have them.
  private final class Executor: SerialExecutor {
    /// Retains all executors, because an actor and its executor may be released by a job whose `enqueue` has not returned.
    private static let immortal = Locked<[Executor]>([])

    let testHome = TestHome()
    let jobs = Collected<Void>()

    init() { Self.immortal.withLock { $0.append(self) } }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      testHome.queue.async { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
      jobs.add(())
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(testHome.queue)) }
  }

  private let executor = Executor()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  nonisolated var testHome: TestHome { executor.testHome }

  /// The jobs that have been enqueued so far.
  nonisolated var jobs: Collected<Void> { executor.jobs }
}

/// A kind of home, for tests that hold in several.
enum HomeKind: CaseIterable, Sendable {
  case none, queue, otherQueue, mainActor, task
}

/// The homes of the kinds in a test.
struct Homes: Sendable {
  let one = TestHome("one")
  let two = TestHome("two", concurrent: true)

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
  /// Observes a topic in a home of a kind. Replaces a handler with the same id.
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

/// An event that happens once. Any thread or task can wait for it.
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

  /// Suspends the task.
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

/// A client that passes its numbers to closures.
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

/// A client for any thread, although its protocol is not Sendable.
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
