import MulticastPlatform

/// A call of who awaits, in a lane. Its task, and tasks that it starts, find it.
final class AwaitedCall: Sendable {
  @TaskLocal private static var innermost: AwaitedCall?

  let cause: Cause
  let office: ObjectIdentifier
  private let lane: ObjectIdentifier
  private let task = Task<Never, Never>.identity
  private let isUnderWay = Atomic<Bool>(true)

  private init(of office: PostOffice, in lane: Mailbox, cause: Cause) {
    self.office = ObjectIdentifier(office)
    self.lane = ObjectIdentifier(lane)
    self.cause = cause
  }

  /// The call that this code is part of; nil if the call has returned. A task that it started may outlive it.
  @inline(__always)
  static var current: AwaitedCall? { multicast_is_awaiting() ? innermostUnderWay : nil }

  @inline(never)
  private static var innermostUnderWay: AwaitedCall? {
    innermost.flatMap { $0.isUnderWay.load(ordering: .acquiring) ? $0 : nil }
  }

  /// The lane in which this task runs; nil in a task that a call has started.
  static var currentLane: ObjectIdentifier? {
    current.flatMap { $0.task == Task<Never, Never>.identity ? $0.lane : nil }
  }

  /// Runs `body` in the caller's actor.
  nonisolated(nonsending) static func run(
    of office: PostOffice, in lane: Mailbox, cause: Cause,
    _ body: nonisolated(nonsending) () async -> Void
  ) async {
    let call = AwaitedCall(of: office, in: lane, cause: cause)
    multicast_count_awaiting(1)
    await $innermost.bind(call, body)
    multicast_count_awaiting(-1)
    call.isUnderWay.store(false, ordering: .releasing)
  }
}
