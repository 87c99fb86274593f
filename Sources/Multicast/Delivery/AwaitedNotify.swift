import MulticastPlatform

/// An active `notify` with `awaiting:`: a frame in the chain of its task.
///
/// A task changes threads, so its chain is a task-local value, and not a variable of the thread as ``DeliveryChain``. A frame
/// counts only in the task that has made it, until its `notify` returns. Child tasks inherit it, but they run side by side, and
/// what one of them notifies is not nested in another one. ``AwaitedCall`` is the other task-local scope: there, child tasks
/// count, because the question is which call has to return first.
@usableFromInline
final class AwaitedNotify: Sendable {
  @TaskLocal private static var innermost: AwaitedNotify?

  /// The caller holds the list until its `notify` returns.
  let list: ObjectIdentifier
  let site: CallSite
  private let outer: AwaitedNotify?
  private let task: Int
  private let isDelivering = Atomic<Bool>(true)

  // Unsafe for two variables, which have no lock. Only the task that has made the frame uses them: ``note(_:)`` is called there
  // right after the frame is made, and ``forEachOfTask(_:)`` passes a frame to no other task, even to one that has inherited it.

  /// The number of deliveries nested in this one: see ``DeliveryFrame/nested``.
  nonisolated(unsafe) var nested: Int32 = 0

  /// The delivery, if it is reported.
  nonisolated(unsafe) private(set) var reported = ReportedDelivery()

  init(list: ClientList, site: CallSite) {
    self.list = ObjectIdentifier(list)
    self.site = site
    task = Task<Never, Never>.identity
    // Skip the frames of other tasks. Otherwise a chain of tasks, of which each is started by the one before, would keep all their
    // frames alive.
    var outer = Self.innermost
    while let frame = outer, !frame.isDelivering(in: task) { outer = frame.outer }
    self.outer = outer
  }

  /// Calls `body` once, in the caller's actor, with this frame as the task's innermost one.
  @usableFromInline
  func run<Result, Failure: Error>(
    in isolation: isolated (any Actor)? = #isolation,
    _ body: nonisolated(nonsending) () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    multicast_count_awaiting(1)
    defer {
      isDelivering.store(false, ordering: .releasing)
      multicast_count_awaiting(-1)
    }
    // `withValue` does not keep the type of an error, so a result carries it.
    let outcome = await Self.$innermost.bind(self) { () async -> Swift.Result<Result, Failure> in
      do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
    }
    return try outcome.get()
  }

  /// Notes in the innermost frame that its delivery is reported.
  static func note(_ delivery: ReportedDelivery) { unsafe innermost?.reported = delivery }

  /// Calls `body` with the active awaited deliveries of the current task, innermost first.
  static func forEachOfTask(_ body: (AwaitedNotify) -> Void) {
    guard let innermost else { return }
    let task = Task<Never, Never>.identity
    for frame in sequence(first: innermost, next: \.outer) where frame.isDelivering(in: task) {
      body(frame)
    }
  }

  private func isDelivering(in task: Int) -> Bool {
    // A task that runs is alive, so no other task has its identity.
    isDelivering.load(ordering: .acquiring) && self.task == task
  }
}
