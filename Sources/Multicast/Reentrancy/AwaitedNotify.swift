import Synchronization

/// An active `notify` with `awaiting:`: a link in the chain of its task.
///
/// The chain is a task-local value, because a task changes threads. Other tasks inherit task-local values,
/// but they are chains of their own. A link counts only in the task that made it, until its `notify` ends.
@usableFromInline
final class AwaitedNotify: Sendable {
  @TaskLocal
  private static var innermost: AwaitedNotify?

  private let clients: ClientList
  let site: CallSite
  private let outer: AwaitedNotify?
  private let task: Int
  private let place: StackPlace
  private let isDelivering = Atomic<Bool>(true)

  @usableFromInline
  init(list: ClientList, site: CallSite) {
    clients = list
    self.site = site
    task = Self.currentTask
    place = StackPlace.current
    // Other tasks' links do not count in this one, unless it runs on top of theirs. To keep them would
    // chain each task that a client starts to all the ones before it.
    var outer = Self.innermost
    while let link = outer, !link.isDelivering(in: task), !link.isDelivering(below: place) {
      outer = link.outer
    }
    self.outer = outer
    list.countAwaited(1)
  }

  var list: ObjectIdentifier { ObjectIdentifier(clients) }

  /// Calls `body` with this link as the innermost one of the task, once, in the caller's actor.
  @usableFromInline
  func deliver<Result, Failure: Error>(
    in isolation: isolated (any Actor)? = #isolation,
    _ body: nonisolated(nonsending) () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    defer {
      isDelivering.store(false, ordering: .releasing)
      clients.countAwaited(-1)
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

  /// How many links of other tasks are passed over before one is taken for part of this call stack.
  private static var unprovenLinks: Int { 64 }

  /// Calls `body` with the active awaited deliveries of the current task, innermost first, and
  /// with those of tasks that run further down this very stack, because they have started this one with
  /// `Task.immediate`.
  ///
  /// Nobody can ask whether another task runs on this stack. A link knows where on which stack it began,
  /// and a task that runs on top of it begins further up. But a task that was suspended has left its place
  /// to others, so that one link, or a few, prove nothing. A recursion has ever more of them, each
  /// further up than the one before. Tasks that run one after the other begin in a few places, which do not
  /// rise so often.
  static func forEachOfTask(_ body: (AwaitedNotify) -> Void) {
    guard var next = innermost else { return }
    let task = currentTask
    var place = StackPlace.current
    var rising = 0
    while true {
      if next.isDelivering(in: task) {
        body(next)
      } else if next.isDelivering(below: place) {
        rising += 1
        if rising > unprovenLinks { body(next) }
        place = next.place
      }
      guard let outer = next.outer else { return }
      next = outer
    }
  }

  private func isDelivering(below place: StackPlace) -> Bool {
    isDelivering.load(ordering: .acquiring) && place.isAbove(self.place)
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
