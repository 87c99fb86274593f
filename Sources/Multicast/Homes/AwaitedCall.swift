/// A call in a lane. Its task, and tasks that it starts, find it.
final class AwaitedCall: Sendable {
  @TaskLocal private static var innermost: AwaitedCall?

  /// The number of active calls in the process. While it is 0, no thread pays for reading a task-local value.
  private static let count = Atomic<Int>(0)

  /// The lane, which is blocked while the call waits.
  let lane: Mailbox

  let cause: Cause

  private let state = Atomic<Bool>(true)

  private init(in lane: Mailbox, cause: Cause) {
    self.lane = lane
    self.cause = cause
  }

  /// The call that this code is part of; nil if the call has returned. A task that it started may outlive it.
  static var current: AwaitedCall? {
    guard count.load(ordering: .relaxed) != 0, let innermost else { return nil }
    return innermost.isUnderWay ? innermost : nil
  }

  var isUnderWay: Bool { state.load(ordering: .acquiring) }

  static func run(in lane: Mailbox, cause: Cause, _ body: () async -> Void) async {
    let call = AwaitedCall(in: lane, cause: cause)
    count.wrappingAdd(1, ordering: .relaxed)
    await $innermost.withValue(call) { await body() }
    count.wrappingSubtract(1, ordering: .relaxed)
    call.state.store(false, ordering: .releasing)
  }
}
