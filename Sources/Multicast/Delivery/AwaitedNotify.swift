import MulticastPlatform

/// An active `notify` with `awaiting:`: a frame in the chain of its task.
///
/// The chain is a task-local value, because a task changes threads. Other tasks inherit task-local values,
/// but they are chains of their own. A frame counts only in the task that made it, until its `notify` ends.
@usableFromInline
final class AwaitedNotify: Sendable {
  @TaskLocal private static var innermost: AwaitedNotify?

  /// The caller holds the list until this ends.
  let list: ObjectIdentifier
  let site: CallSite
  private let outer: AwaitedNotify?
  private let task: Int
  private let isDelivering = Atomic<Bool>(true)

  /// What is counted under this delivery: see ``DeliveryFrame``. Only its task counts.
  nonisolated(unsafe) var nested = 0

  @usableFromInline
  init(list: ClientList, site: CallSite) {
    self.list = ObjectIdentifier(list)
    self.site = site
    task = Task<Never, Never>.identity
    // Skips the frames of other tasks. Otherwise each task that a client starts would keep all the ones before it alive.
    var outer = Self.innermost
    while let frame = outer, !frame.isDelivering(in: task) { outer = frame.outer }
    self.outer = outer
    multicast_count_awaiting(1)
  }

  /// Calls `body` once, in the caller's actor, with this frame as the task's innermost one.
  @usableFromInline
  func run<Result, Failure: Error>(
    in isolation: isolated (any Actor)? = #isolation,
    _ body: nonisolated(nonsending) () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    defer {
      isDelivering.store(false, ordering: .releasing)
      multicast_count_awaiting(-1)
    }
    // What is bound throws nothing, so a result carries the typed error.
    let outcome = await Self.$innermost.bind(self) { () async -> Swift.Result<Result, Failure> in
      do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
    }
    return try outcome.get()
  }

  /// Calls `body` with the active awaited deliveries of the current task, innermost first.
  static func forEachOfTask(_ body: (AwaitedNotify) -> Void) {
    guard let innermost else { return }
    let task = Task<Never, Never>.identity
    for frame in sequence(first: innermost, next: \.outer) where frame.isDelivering(in: task) {
      body(frame)
    }
  }

  private func isDelivering(in task: Int) -> Bool {
    // An active task is alive, so its identity is unique.
    isDelivering.load(ordering: .acquiring) && self.task == task
  }
}
