import Synchronization

/// A call in a lane, known to the task that it runs in and to the tasks that it starts.
final class AwaitedCall: Sendable {
  @TaskLocal private static var innermost: AwaitedCall?

  /// How many calls are under way in the process, so that a program without any does not pay for a look
  /// at the task.
  private static let count = Atomic<Int>(0)

  /// The lane, which waits if the call waits.
  let lane: Mailbox

  /// The post that is being handled.
  let cause: Cause

  private let state = Atomic<Bool>(true)

  private init(in lane: Mailbox, cause: Cause) {
    self.lane = lane
    self.cause = cause
  }

  /// The call that this code is part of; nil if it has returned. A task that it has started may outlive
  /// it.
  static var current: AwaitedCall? {
    guard count.load(ordering: .relaxed) != 0, let innermost else { return nil }
    return innermost.isUnderWay ? innermost : nil
  }

  /// Whether it has not returned.
  var isUnderWay: Bool { state.load(ordering: .acquiring) }

  /// Calls `body` as a call in a lane.
  static func run(in lane: Mailbox, cause: Cause, _ body: () async -> Void) async {
    let call = AwaitedCall(in: lane, cause: cause)
    count.add(1, ordering: .relaxed)
    await $innermost.withValue(call) { await body() }
    count.subtract(1, ordering: .relaxed)
    call.state.store(false, ordering: .releasing)
  }
}
