import Multicast
import Testing

/// A test, or one run of an exploration, with a center of its own. At its end, exhaustive recorders must be empty.
final class TestScope: Sendable {
  @TaskLocal private static var current: TestScope?

  private typealias Check = @Sendable () -> Void

  private let checks = Locked<[Check]>([])

  /// Runs `body` with a center as the current one, and then looks at the recorders that were made in it.
  static func run<Result>(
    with center: MulticastCenter, _ body: () async throws -> Result
  ) async throws -> Result {
    let scope = TestScope()
    let result = try await MulticastCenter.$ofTask.withValue(center) {
      try await $current.withValue(scope) { try await body() }
    }
    for check in scope.checks.withLock({ $0 }) { check() }
    return result
  }

  /// Makes a recording fail the test at its end if it is not empty then.
  static func check<Element: Sendable>(
    _ recording: Recording<Element>, named name: String, _ location: SourceLocation
  ) {
    guard let current else {
      Issue.record(
        "A recorder can be exhaustive in a test with the trait .ownCenter, which looks at it at the end.",
        sourceLocation: location)
      return
    }
    current.checks.withLock { checks in
      checks.append {
        let remaining = recording.remaining
        if remaining.isEmpty { return }
        let list = remaining.map { "\n  \($0)" }.joined()
        Issue.record(
          "Nobody has taken these \(name), and their recorder is exhaustive:\(list)",
          sourceLocation: location)
      }
    }
  }
}
