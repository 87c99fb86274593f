import Synchronization

/// A notify with `awaiting:` that is delivering: a link in the chain of its task.
///
/// The chain is a task-local value, since a task changes threads. Unstructured tasks and child tasks
/// inherit task-local values, but not the call: they are chains of their own, so a link counts only
/// in the task that made it, and only until its notify has ended.
@usableFromInline
final class AwaitedNotify: Sendable {
  @TaskLocal
  private static var innermost: AwaitedNotify?

  /// How many are delivering in the whole process, so that a program which never awaits a notify
  /// does not pay for a look at the task.
  private static let active = Atomic<Int>(0)

  let list: ObjectIdentifier
  let site: CallSite
  private let outer: AwaitedNotify?
  private let task: Int
  private let isDelivering = Atomic<Bool>(true)

  @usableFromInline
  init(list: ObjectIdentifier, site: CallSite) {
    self.list = list
    self.site = site
    let task = Self.currentTask
    self.task = task
    // Other tasks' links never count in this one. To keep them would chain each task that a client
    // starts to all the ones before it.
    var outer = Self.innermost
    while let link = outer, !link.isDelivering(in: task) { outer = link.outer }
    self.outer = outer
    Self.active.add(1, ordering: .relaxed)
  }

  /// Calls `body` with this link as the innermost one of the task, once, in the caller's actor.
  @usableFromInline
  func deliver<Result, Failure: Error>(
    in isolation: isolated (any Actor)? = #isolation,
    _ body: nonisolated(nonsending) () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    defer {
      isDelivering.store(false, ordering: .releasing)
      Self.active.subtract(1, ordering: .relaxed)
    }
    // `withValue` throws any error: a typed one is carried past it in a result.
    let outcome = await Self.$innermost.withValue(self) {
      () async -> Swift.Result<Result, Failure> in
      // A closure runs in the actor that it captures. One that captures none leaves its caller's actor,
      // and with it `body` does, unless an optimization takes that for unnecessary.
      _ = isolation
      do throws(Failure) {
        return .success(try await body())
      } catch {
        return .failure(error)
      }
    }
    return try outcome.get()
  }

  /// Whether any task of the process delivers with `awaiting:`.
  static var exist: Bool { active.load(ordering: .relaxed) != 0 }

  /// Calls `body` with the awaited notifies that are delivering in the current task, innermost first.
  static func forEachOfTask(_ body: (AwaitedNotify) -> Void) {
    guard exist else { return }
    let task = currentTask
    var next = innermost
    while let link = next {
      if link.isDelivering(in: task) { body(link) }
      next = link.outer
    }
  }

  private func isDelivering(in task: Int) -> Bool {
    // A task that is delivering is alive, so that its identity is nobody else's.
    isDelivering.load(ordering: .acquiring) && self.task == task
  }

  /// A number that tells the tasks that are alive apart; 0 outside of any task.
  private static var currentTask: Int {
    unsafe withUnsafeCurrentTask { task in unsafe task?.hashValue ?? 0 }
  }
}
