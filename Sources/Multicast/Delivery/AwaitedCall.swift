import MulticastPlatform

/// A call of an awaiting client or handler, in its task. The task, and those that it starts, find it.
final class AwaitedCall: Sendable {
  @TaskLocal private static var innermost: AwaitedCall?

  let cause: Cause
  let office: ObjectIdentifier
  private let mailbox: ObjectIdentifier
  private let task = Task<Never, Never>.identity
  private let isUnderWay = Atomic<Bool>(true)

  private init(of office: PostOffice, in mailbox: Mailbox, cause: Cause) {
    self.office = ObjectIdentifier(office)
    self.mailbox = ObjectIdentifier(mailbox)
    self.cause = cause
  }

  /// The call that this code is part of; nil if the call has returned. A task that it started may outlive it.
  @inline(__always)
  static var current: AwaitedCall? { multicast_is_awaiting() ? innermostUnderWay : nil }

  @inline(never)
  private static var innermostUnderWay: AwaitedCall? {
    innermost.flatMap { $0.isUnderWay.load(ordering: .acquiring) ? $0 : nil }
  }

  /// The mailbox whose letters this task handles; nil in a task that a call has started.
  static var currentMailbox: ObjectIdentifier? {
    current.flatMap { $0.task == Task<Never, Never>.identity ? $0.mailbox : nil }
  }

  /// Runs `body` in the caller's actor.
  nonisolated(nonsending) static func run(
    of office: PostOffice, in mailbox: Mailbox, cause: Cause,
    _ body: nonisolated(nonsending) () async -> Void
  ) async {
    let call = AwaitedCall(of: office, in: mailbox, cause: cause)
    multicast_count_awaiting(1)
    await $innermost.bind(call, body)
    multicast_count_awaiting(-1)
    call.isUnderWay.store(false, ordering: .releasing)
  }
}
