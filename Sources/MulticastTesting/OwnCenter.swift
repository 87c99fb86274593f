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
    try await TestScope.run(with: .recordable()) { try await function() }
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
  public static var ownCenter: Self { Self() }
}
