import Multicast
import Testing

/// Runs a test in many of the orders in which actors and queues may handle what is posted to them.
///
/// What one thread posts arrives in every home in order. Two homes have no common order: one may handle ten
/// posts before the other handles its first. Code that relies on a common order fails rarely, and on another
/// machine. ``explore(runs:_:)`` runs a test in many of these orders, each decided by a seed, and ``replay(seed:_:)``
/// repeats one:
///
/// <!-- example: in TestingSuite -->
/// ```swift
/// @Test func theTotalIsRightInEveryOrder() async throws {
///   try await Interleavings.explore(runs: 100) { center in
///     // Has a handler on a queue, and one on the main actor.
///     let basket = Basket(center: center)
///     center.post(.added, Item(price: 20))
///     // Homes may handle letters here.
///     await Interleavings.step()
///     center.post(.removed, Item(price: 20))
///     await center.settled()
///     #expect(await basket.total == 0)
///   }
/// }
/// ```
///
/// A post leaves a *letter* in each home that it cannot call immediately. The letters of the center are held
/// while the body runs, and handled while it waits: in `settled()`, in `delivered()`, in the `next()` of a
/// recorder, or in ``step()``. Then one home after the other handles one letter, and a number from the seed
/// chooses which.
///
/// The same seed gives the same order, whatever else the machine does, if all posts come from the body, from
/// clients and from handlers. A seed does not control when child tasks of the body, `Task { }`, timers and
/// other threads post. Nor does it control when a time limit or a cancellation ends a wait: the task then goes on
/// immediately, even while a handler runs. The center does not search for deallocated clients of other homes
/// while more are added, because no seed controls such a search; the next delivery removes them.
///
/// Nothing stops the body, clients and handlers while they run. Therefore no order is found in which
///
/// - another home handles letters between two posts of one handler,
/// - a letter is handled between two lines of the body without one of the waits above,
/// - two threads or tasks post, or read and write, in another order than they happen to in this run,
/// - the main actor handles a letter later than another home, if the body posts on the main actor, where `post`
///   calls its clients immediately. With the default isolation `MainActor`, a helper that posts does so there,
///   unless it is `nonisolated`.
///
/// A body that waits for something else that a letter causes, such as a continuation that a handler resumes,
/// waits forever: call `settled()` first. So does a run in which a handler that is awaited waits for a letter
/// of another one, unless it awaits `delivered()`, or in which a handler posts a message that the body awaits,
/// and then waits for the body: the body goes on when no handler runs.
public enum Interleavings {
  /// Runs a test in several orders, until one fails.
  ///
  /// A run fails if the body throws, if it records an issue, or if the center refuses a loop. The failure
  /// lists the letters in the order in which they were handled, and names the seed. An issue that a handler
  /// records in another home belongs to no test, and to no seed: let the body check what handlers have done.
  ///
  /// A known issue is no failure. Inside `withKnownIssue`, let the body throw, as with `#require`, so that the
  /// exploration ends and names the seed.
  ///
  /// In a test of XCTest, this throws what the body records with `#expect` and `#require`. It does not see
  /// the failures of `XCTAssert`, which belong to the test and to no seed.
  ///
  /// A run ends when the body has returned and every letter was handled. `MulticastCenter.current` is its
  /// center.
  ///
  /// - Parameters:
  ///   - count: The number of runs, with the seeds 0, 1, 2 and so on. Less than 1 stops the program.
  ///   - body: Creates everything, posts, and checks the outcome. It receives a center of its own, whose
  ///     deliveries can be recorded.
  /// - Throws: ``Failure`` for the first run whose body throws or whose center refuses a loop, or, in XCTest,
  ///   whose body records an issue. It does not throw what `#require` has recorded as an issue.
  ///   `CancellationError` if the task is cancelled, unless the body throws another error because of that, as
  ///   `next()` of a recorder does. It throws what `Test.cancel()` throws, and an `XCTSkip`, unchanged, so a body
  ///   can cancel or skip its test.
  public static func explore(
    runs count: Int = 100,
    _ body: @escaping @Sendable (MulticastCenter) async throws -> Void
  ) async throws {
    if count < 1 {
      fatalError("Multicast: Interleavings.explore(runs: \(count)); use 1 or more runs")
    }
    for seed in 0..<UInt64(count) {
      if try await hasIssues(seed, body) { return }
      try Task.checkCancellation()
    }
  }

  /// Repeats the run of a seed.
  ///
  /// - Parameters:
  ///   - seed: The seed that a failure has named.
  ///   - body: The body of ``explore(runs:_:)``.
  /// - Throws: ``Failure`` if the body throws, if the center refuses a loop, or, in XCTest, if the body records
  ///   an issue. `CancellationError` if the task is cancelled, and what cancels or skips the test, as with
  ///   ``explore(runs:_:)``.
  public static func replay(
    seed: UInt64,
    _ body: @escaping @Sendable (MulticastCenter) async throws -> Void
  ) async throws {
    if try await hasIssues(seed, body) { return }
    try Task.checkCancellation()
  }

  /// Lets homes handle letters: none, some, or all, as the seed decides.
  ///
  /// Letters are held while the body runs. Write this between two lines of a body where letters may be
  /// handled in an app.
  ///
  /// Call it in the body, in its child tasks, or in a `Task { }` that it starts. Elsewhere, it returns
  /// immediately.
  public static func step() async { await Director.current?.step() }

  /// A run that has failed.
  public struct Failure: Error, CustomStringConvertible {
    /// The seed of the run.
    public let seed: UInt64

    /// The error that the body has thrown, the report of the loop, or, in XCTest, the issues that the body has
    /// recorded.
    public let underlying: any Error

    /// The letters in the order in which they were handled: what each contains, where it was posted, in which
    /// home it was handled, and which listeners were called. The last ones may have been handled after the body has
    /// thrown, when listeners were deallocated.
    public let letters: [String]

    /// The error, the letters and the seed.
    public var description: String {
      "\(underlying)\n\(Interleavings.report(letters, seed))"
    }
  }

  /// The letters and the seed of a run that has failed, as text.
  private static func report(_ letters: [String], _ seed: UInt64) -> String {
    let list = letters.map { "\n  \($0)" }.joined()
    return (letters.isEmpty ? "No letter was handled." : "The letters in this order:\(list)")
      + "\nWith the seed \(seed): Interleavings.replay(seed: \(seed)) repeats it."
  }

  /// Runs a seed. Returns whether the body has recorded issues that fail its test.
  private static func hasIssues(
    _ seed: UInt64,
    _ body: @escaping @Sendable (MulticastCenter) async throws -> Void
  ) async throws -> Bool {
    let issues = Locked<[Issue]>([])
    let director = Director(seed: seed)
    @Sendable func runBody() async throws {
      do {
        try await run(director, body)
      } catch {
        if error.endsTestWithoutFailure { throw error }
        throw Failure(seed: seed, underlying: error, letters: director.letters)
      }
    }
    let note = { @Sendable (issue: Issue) in
      if issue.failsItsTest { issues.withLock { $0.append(issue) } }
      return issue.failsItsTest
    }
    if let test = Test.current {
      let trait: IssueHandlingTrait = .compactMapIssues { issue in
        guard note(issue) else { return issue }
        var issue = issue
        issue.comments.append("\(report(director.letters, seed))")
        return issue
      }
      do {
        try await trait.provideScope(for: test, testCase: Test.Case.current, performing: runBody)
      } catch let failure as Failure
        where failure.underlying is ExpectationFailedError && issues.withLock({ !$0.isEmpty })
      {
        // `#require` has recorded an issue, which names the seed.
      }
      return issues.withLock { !$0.isEmpty }
    }
    // In XCTest, an issue belongs to no test and would be lost. So all issues are treated as known ones, which `matching`
    // receives, and are thrown afterwards.
    var outcome = Result<Void, any Error>.success(())
    await withKnownIssue(isIntermittent: true) {
      do { try await runBody() } catch { outcome = .failure(error) }
    } matching: { issue in
      _ = note(issue)
      return true
    }
    let recorded = issues.withLock { $0 }
    // A test that is skipped would not fail because of the issues.
    if case .failure(let error) = outcome, error is Failure || recorded.isEmpty { throw error }
    if recorded.isEmpty { return false }
    throw Failure(seed: seed, underlying: RecordedIssues(recorded), letters: director.letters)
  }

  /// The issues that the body has recorded, as an error.
  private struct RecordedIssues: Error, CustomStringConvertible {
    let description: String

    init(_ issues: [Issue]) { description = issues.map { "\($0)" }.joined(separator: "\n") }
  }

  /// Runs the body once, with a center whose letters the director holds. Throws the report of a loop if there was one.
  private static func run(
    _ director: Director, _ body: @escaping @Sendable (MulticastCenter) async throws -> Void
  ) async throws {
    let loops = Locked<[RecursiveNotify]>([])
    let hub = DeliveryHub()
    let center = MulticastCenter(
      onRecursion: { report in loops.withLock { $0.append(report) } },
      onDelivery: { event in
        hub.report(event)
        director.observe(event)
      }, scheduler: director)
    center.attach(hub)
    defer { director.close() }
    try await withTaskCancellationHandler {
      try await TestScope.run(with: center, patience: .infinity) {
        do {
          try await Director.$current.withValue(director) { try await body(center) }
        } catch {
          await center.settled()
          throw error
        }
      }
    } onCancel: {
      director.close()
    }
    if let loop = loops.withLock({ $0.first }) { throw loop }
  }
}

extension Error {
  /// Whether a test that throws this error has been cancelled or skipped, and so does not fail.
  ///
  /// The last two types are known by their names. That of `Test.cancel()` is not public, and this module does not import XCTest,
  /// which would load it into every process that links this module.
  fileprivate var endsTestWithoutFailure: Bool {
    if self is CancellationError { return Task.isCancelled }
    return switch String(reflecting: type(of: self)) {
    case "Testing.SkipInfo": Task.isCancelled
    case "XCTest.XCTSkip": true
    default: false
    }
  }
}

extension Issue {
  /// False for a known issue and for a warning. Always true with compilers before 6.3, which do not distinguish them.
  fileprivate var failsItsTest: Bool {
    #if compiler(>=6.3)
      isFailure
    #else
      true
    #endif
  }
}
