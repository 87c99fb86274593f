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
    // Skips the links of other tasks, except those further down this stack. Otherwise each task that a client
    // starts would keep all the ones before it alive.
    var outer = Self.innermost
    while let link = outer, !link.isDelivering(in: task), !link.isDelivering(below: place) {
      outer = link.outer
    }
    self.outer = outer
    list.countAwaited(1)
  }

  var list: ObjectIdentifier { ObjectIdentifier(clients) }

  /// Calls `body` once, in the caller's actor, with this link as the task's innermost one.
  @usableFromInline
  func deliver<Result, Failure: Error>(
    in isolation: isolated (any Actor)? = #isolation,
    _ body: nonisolated(nonsending) () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    defer {
      isDelivering.store(false, ordering: .releasing)
      clients.countAwaited(-1)
    }
    // `withValue` throws any error, so a result carries the typed one.
    let outcome = await Self.$innermost.withValue(self) {
      () async -> Swift.Result<Result, Failure> in
      // The capture makes the closure run in the caller's actor. Without it, the closure leaves that actor,
      // unless an optimization removes the switch.
      _ = isolation
      do throws(Failure) {
        return .success(try await body())
      } catch {
        return .failure(error)
      }
    }
    return try outcome.get()
  }

  /// How many rising links of other tasks are skipped before further ones count as part of this call stack.
  private static var unprovenLinks: Int { 64 }

  /// Calls `body` with the active awaited deliveries of the current task, innermost first, and those of tasks
  /// further down this stack, which started this one with `Task.immediate`.
  ///
  /// The runtime does not tell whether another task runs on this stack. A link knows where on which stack it
  /// began, and a task on top of it begins further up. But a suspended task leaves its place to others, so a
  /// few such links prove nothing. A recursion has more and more of them, each further up than the one
  /// before. Tasks that run one after the other begin in a few places, which do not rise as often.
  ///
  /// - Parameter letter: The place where this thread handles a letter. Deliveries that began before are not
  ///   among its causes.
  static func forEachOfTask(since letter: StackPlace?, _ body: (AwaitedNotify) -> Void) {
    guard var next = innermost else { return }
    let task = currentTask
    var place = StackPlace.current
    var rising = 0
    while letter.map({ next.place.isAbove($0) }) != false {
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
    // An active task is alive, so its identity is unique.
    isDelivering.load(ordering: .acquiring) && self.task == task
  }

  /// Identifies the current task among live ones; 0 outside of tasks.
  private static var currentTask: Int {
    unsafe withUnsafeCurrentTask { task in unsafe task?.hashValue ?? 0 }
  }
}
