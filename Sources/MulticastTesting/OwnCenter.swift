import Multicast
import Testing

/// The trait of a test with a center of its own. Write `.ownCenter`.
public struct OwnCenter: TestTrait, SuiteTrait, TestScoping {
  /// Whether each test of a suite has a center of its own: it has.
  public var isRecursive: Bool { true }

  /// Runs a test, or one of its cases, with a new center as the current one.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let center = MulticastCenter.recordable()
    try await TestScope.run(with: center) { try await function() }
    await center.expectNoLeaks(sourceLocation: test.sourceLocation)
  }
}

extension Trait where Self == OwnCenter {
  /// Gives a test, or each test of a suite, a center of its own.
  ///
  /// <!-- example: in TestingSuite -->
  /// ```swift
  /// @Test(.ownCenter) func aLoginIsTold() async throws {
  ///   let logins = TopicRecorder(.current, .userLogin)
  ///   MailService().fetch()  // uses MulticastCenter.current
  ///   #expect(try await logins.next().id == 19000)
  /// }
  /// ```
  ///
  /// In the test and in its child tasks, `MulticastCenter.current` is a new center, whose deliveries can be recorded.
  /// `Task { }` inherits it, too. `Task.detached`, blocks on queues and calls in other homes see
  /// `MulticastCenter.default`. So code that is to be tested reads `current` once, where an object is made, and
  /// keeps the center.
  ///
  /// At its end, the test fails if a handler alone has kept its owner alive: see
  /// ``Multicast/MulticastCenter/expectNoLeaks(sourceLocation:)``.
  public static var ownCenter: Self { Self() }
}

extension MulticastCenter {
  /// Ends all handlers of topics, and fails the test for each owner that only its own handler kept alive.
  ///
  /// <!-- example: in Testing -->
  /// ```swift
  /// await center.expectNoLeaks()
  /// ```
  ///
  /// A handler that captures its owner instead of using its parameter keeps the owner alive for ever. This ends each handler
  /// in its home. An owner that ends in that moment was kept by its handler, and the test fails with the owner's type, the
  /// topic and, in a debug build, the place of `observe`. An owner that others hold lives on. Of several handlers that keep
  /// an owner, the last is named.
  ///
  /// Call it at the end of a test, when nothing else releases owners. A test with the trait `.ownCenter` does it by itself.
  /// It waits for every home, so none may be blocked or suspended.
  ///
  /// A debug build prints the same when any center ends, of handlers that live where it ends or nowhere.
  ///
  /// - Parameter sourceLocation: The place that a failure names.
  /// - Complexity: O(*n*) in the number of handlers.
  public func expectNoLeaks(sourceLocation: SourceLocation = #_sourceLocation) async {
    for leak in await endHandlers() { Issue.record("\(leak)", sourceLocation: sourceLocation) }
  }
}
