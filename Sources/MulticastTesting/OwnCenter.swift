import Multicast
import Testing

/// A trait that gives a test a center of its own. Write `.ownCenter`.
public struct OwnCenter: TestTrait, SuiteTrait, TestScoping {
  /// The time that the end of a test waits for the center to settle, and then for all homes, in seconds.
  var patience = 10.0

  /// Always true: a suite with this trait gives each of its tests a center of its own.
  public var isRecursive: Bool { true }

  /// Runs a test, or one of its cases, with a new center as `MulticastCenter.current`.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let center = MulticastCenter.recordable()
    try await TestScope.run(with: center, patience: patience) { try await function() }
    for problem in await center.findLeaks(within: patience) {
      Issue.record("\(problem)", sourceLocation: test.sourceLocation)
    }
  }
}

extension Trait where Self == OwnCenter {
  /// A trait that gives a test, or each test of a suite, a center of its own.
  ///
  /// <!-- example: in TestingSuite -->
  /// ```swift
  /// @Test(.ownCenter) func aLoginIsPosted() async throws {
  ///   let logins = TopicRecorder(.current, .userLogin)
  ///   // Uses MulticastCenter.current.
  ///   MailService().fetch()
  ///   #expect(try await logins.next().id == 19000)
  /// }
  /// ```
  ///
  /// In the test and in its child tasks, `MulticastCenter.current` is a new center, whose deliveries can be
  /// recorded. `Task { }` inherits it, too. `Task.detached`, blocks on queues, and calls in other homes see
  /// `MulticastCenter.default`. Let code that you want to test read `current` once, where it creates an
  /// object, and keep the center.
  ///
  /// At its end, a test that does not throw waits until the center has settled, for ten seconds at most. It fails
  /// if an exhaustive recorder contains something that was not taken, if a handler alone has kept its owner
  /// alive, or if the home of a handler does not run within about ten more seconds: see
  /// ``Multicast/MulticastCenter/expectNoLeaks()``.
  public static var ownCenter: Self { Self() }
}

extension MulticastCenter {
  /// Ends all handlers of topics, and throws if an owner was kept alive only by its own handler.
  ///
  /// <!-- example: in Testing -->
  /// ```swift
  /// try await center.expectNoLeaks()
  /// ```
  ///
  /// A handler that captures its owner instead of using its parameter keeps the owner alive forever. This
  /// removes each handler in its home. If that deallocates the owner, only the handler has kept it alive, and
  /// the error contains the owner's type, the topic and, in a debug build, the call site of `observe`. An
  /// owner that something else retains, such as a task, is not reported. If several handlers keep an owner alive, one of them
  /// is named.
  ///
  /// Call it at the end of a test of Swift Testing or XCTest, when the test no longer holds the owners: a local
  /// variable is another owner, so make the object in a `do` block. Handlers of other owners end, too, so do not
  /// call it with `MulticastCenter.default`. A test with the trait `.ownCenter` does it by itself.
  ///
  /// First, it waits until the center has settled, for ten seconds at most, because a handler that awaits keeps
  /// its owner alive while it runs. Then it waits for all homes, for about ten seconds, and longer only if the
  /// machine is too busy to run tasks. If a home does not run in that time, such as a suspended queue, its handlers
  /// stay, and the error names the home. If a task or a thread releases an owner at that moment, this may report
  /// that owner, too.
  ///
  /// A debug build prints the same when any center is deallocated, for handlers without a home, and for those at
  /// home on that thread.
  ///
  /// - Throws: ``LeakedOwners`` if there is such an owner or such a home. `CancellationError` if there is none, and
  ///   the task is cancelled.
  /// - Complexity: O(*n*) in the number of handlers.
  public func expectNoLeaks() async throws {
    let leaks = await leaks(within: OwnCenter.ownCenter.patience)
    if !leaks.isEmpty { throw LeakedOwners(description: leaks.joined(separator: "\n")) }
    try Task.checkCancellation()
  }

  /// Waits until the center has settled, and ends all handlers. Returns what ``findLeaks(within:)`` returns.
  ///
  /// - Parameter seconds: The time that this waits for the center to settle, and then for all homes. A handler that awaits keeps
  ///   its owner alive while it runs, and may run forever.
  func leaks(within seconds: Double) async -> [String] {
    await settled(within: seconds)
    return await findLeaks(within: seconds)
  }

  /// Ends all handlers. Returns a message for each owner that only its own handler kept alive, and for each home that did not run.
  ///
  /// - Parameter seconds: The time that this waits for all homes: see ``endHandlers(within:)``.
  fileprivate func findLeaks(within seconds: Double) async -> [String] {
    let (leaks, homes) = await endHandlers(within: seconds)
    // A home may not have run because the wait has ended early.
    if Task.isCancelled { return leaks }
    return leaks
      + homes.map { home in
        """
        \(home) did not run, so its handlers were not examined for leaks. Resume a suspended queue before the test ends. If the \
        home is an actor whose event loop the test runs, run the loop on another thread until the test has ended, or remove the \
        handlers: center.removeHandlers(of: topic).
        """
      }
  }
}

/// The error of `expectNoLeaks()`, which names the owners that only their own handlers kept alive, and the homes
/// that did not run.
public struct LeakedOwners: Error, CustomStringConvertible {
  /// A line for each owner that only its own handler kept alive: its type, the topic, and what to write instead.
  /// Then a line for each home that did not run, so that its handlers were not examined.
  public let description: String
}

/// A test, or one run of an exploration, with a center of its own. At its end, it checks that the exhaustive recorders are
/// empty.
final class TestScope: Sendable {
  @TaskLocal private static var current: TestScope?

  private struct Check: Sendable {
    let center: MulticastCenter
    let reportRemaining: @Sendable () -> Void
  }

  private let checks = Locked<[Check]>([])

  /// Runs `body` with a center as the current one, and then checks the exhaustive recorders that were made in it.
  ///
  /// - Parameter patience: The longest time that each center may take to settle before that, in seconds. What handlers in
  ///   other homes post meanwhile belongs to the test, too.
  static func run<Result>(
    with center: MulticastCenter, patience: Double, _ body: () async throws -> Result
  ) async throws -> Result {
    let scope = TestScope()
    let result = try await MulticastCenter.$ofTask.withValue(center) {
      try await $current.withValue(scope) { try await body() }
    }
    await center.settled(within: patience)
    for check in scope.checks.withLock({ $0 }) {
      if check.center !== center { await check.center.settled(within: patience) }
      check.reportRemaining()
    }
    return result
  }

  /// Lets the end of the test fail if a recording contains elements that the test has not taken.
  static func check<Element: Sendable>(
    _ recording: Recording<Element>, of center: MulticastCenter, named name: String,
    _ location: SourceLocation
  ) {
    guard let current else {
      return reportMisuse(
        """
        An exhaustive recorder needs a test with the trait .ownCenter, or an exploration, which checks it at the end. \
        Make it there, and not in a detached task or on a queue.
        """, location)
    }
    current.checks.withLock { checks in
      let check = Check(center: center) {
        let remaining = recording.remaining
        if remaining.isEmpty { return }
        let list = remaining.map { "\n  \($0)" }.joined()
        Issue.record(
          "The test has not taken these \(name), and their recorder is exhaustive:\(list)",
          sourceLocation: location)
      }
      checks.append(check)
    }
  }
}

/// Fails the test, because a recorder cannot do what it was made for. Outside a test of Swift Testing, as in XCTest, the issue
/// would belong to no test, and the recorder would seem to work. So the program stops.
func reportMisuse(_ message: String, _ location: SourceLocation) {
  if Test.current == nil { fatalError("Multicast: \(message) It was made at \(location).") }
  Issue.record("\(message)", sourceLocation: location)
}
