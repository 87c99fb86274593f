import Dispatch
import Multicast
import Testing

/// The orders in which the homes of a center may come to their letters.
///
/// What one thread posts arrives in every home in order. Between two homes there is no order: one may handle ten letters
/// before the other handles its first. Code that counts on more fails rarely, and on somebody else's machine.
/// ``explore(_:_:)`` runs a test in many of these orders, each decided by a seed, and
/// ``replay(_:_:)`` repeats one:
///
/// <!-- example: in TestingSuite -->
/// ```swift
/// @Test func theTotalIsRightInEveryOrder() async throws {
///   try await Interleavings.explore(100) { center in
///     let basket = Basket(center: center)  // has a handler on a queue, and one on the main actor
///     center.post(.added, Item(price: 20))
///     center.post(.removed, Item(price: 20))
///     await center.settled()
///     #expect(await basket.total == 0)
///   }
/// }
/// ```
///
/// The letters of the center are held. At each step, a number from the seed chooses what goes on: one home handles
/// its next letter, or the body, a handler or a child task goes on to its next post or `await`. Every order that the
/// center allows can come, and none that it forbids.
///
/// The same seed gives the same order if posts come from the body, its child tasks, clients and handlers. What tasks on
/// the main actor post is repeated, too, unless other tests keep that busy. Posts from elsewhere come when they come:
/// from `Task { }` outside of the main actor, from timers, and from actors with executors of their own. They are
/// explored, and not repeated. On a machine so busy that one turn takes seconds, a run prints a line, goes on less finely,
/// and may not be repeated.
///
/// A thread that posts may have to wait there while others run. Do not hold a lock meanwhile that a client or handler
/// takes, and do not call `sync` on a queue that posts: orders are not explored as finely then, and each run takes
/// seconds.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public enum Interleavings {
  /// Runs a test in several orders, until one fails.
  ///
  /// A run fails if the body throws, if it records an issue, or if the center refuses a loop. The failure names the
  /// seed. An issue that a handler records in another home belongs to no test, and to no seed: let the body expect what
  /// handlers leave behind.
  ///
  /// A run ends when the body has returned and every letter was handled. `MulticastCenter.current` is its center.
  ///
  /// - Parameters:
  ///   - count: The number of runs, with the seeds 0, 1, 2 and so on.
  ///   - body: Makes everything anew, posts, and looks at the outcome. Receives a center of its own, whose deliveries
  ///     can be recorded.
  /// - Throws: ``Failure`` for the first run whose body throws or whose center refuses a loop.
  public static func explore(
    _ count: Int = 100,
    _ body: @escaping @Sendable (MulticastCenter) async throws -> Void
  ) async throws {
    for seed in 0..<UInt64(count) {
      if try await hasIssues(seed, body) { return }
      try Task.checkCancellation()
    }
  }

  /// Repeats the run of a seed.
  ///
  /// - Parameters:
  ///   - seed: The seed that a failure has named.
  ///   - body: The body of ``explore(_:_:)``.
  /// - Throws: ``Failure`` if the body throws, or if the center refuses a loop.
  public static func replay(
    _ seed: UInt64,
    _ body: @escaping @Sendable (MulticastCenter) async throws -> Void
  ) async throws {
    _ = try await hasIssues(seed, body)
  }

  /// A run that has failed.
  public struct Failure: Error, CustomStringConvertible {
    /// The seed of the run.
    public let seed: UInt64

    /// What the body has thrown, or the report of the loop.
    public let underlying: any Error

    /// The seed and the error.
    public var description: String {
      "\(underlying) (with the seed \(seed): Interleavings.replay(\(seed)) repeats it)"
    }
  }

  /// Runs a seed. Returns whether the body has recorded issues.
  private static func hasIssues(
    _ seed: UInt64,
    _ body: @escaping @Sendable (MulticastCenter) async throws -> Void
  ) async throws -> Bool {
    let issues = Locked(0)
    try await withIssues { issue in
      guard issue.failsItsTest else { return issue }
      issues.withLock { $0 += 1 }
      var issue = issue
      issue.comments.append("With the seed \(seed): Interleavings.replay(\(seed)) repeats it.")
      return issue
    } in: {
      do {
        try await run(seed, body)
      } catch let error as CancellationError {
        throw error
      } catch {
        throw Failure(seed: seed, underlying: error)
      }
    }
    return issues.withLock { $0 } > 0
  }

  private static func withIssues(
    _ transform: @escaping @Sendable (Issue) -> Issue?, in body: @Sendable () async throws -> Void
  ) async throws {
    guard let test = Test.current else { return try await body() }
    let trait: IssueHandlingTrait = .compactMapIssues(transform)
    try await trait.provideScope(for: test, testCase: Test.Case.current, performing: body)
  }

  private static func run(
    _ seed: UInt64, _ body: @escaping @Sendable (MulticastCenter) async throws -> Void
  ) async throws {
    let director = Director(seed: seed)
    let loops = Locked<[RecursiveNotify]>([])
    let hub = DeliveryHub()
    let center = MulticastCenter(
      onRecursion: { report in loops.withLock { $0.append(report) } },
      onDelivery: { event in
        hub.report(event)
        director.observe(event)
      }, scheduler: director)
    center.attach(hub)
    try await TestScope.run(with: center) {
      let task = Task(executorPreference: director) {
        defer { director.bodyHasReturned() }
        try await body(center)
      }
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          DispatchQueue(label: "Interleavings.director").async {
            director.direct()
            continuation.resume()
          }
        }
      } onCancel: {
        task.cancel()
        director.cancel()
      }
      try await task.value
    }
    if let loop = loops.withLock({ $0.first }) { throw loop }
  }
}

extension Issue {
  /// False for a known issue, and for a warning. Older compilers do not tell.
  fileprivate var failsItsTest: Bool {
    #if compiler(>=6.3)
      isFailure
    #else
      true
    #endif
  }
}
