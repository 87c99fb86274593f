import MulticastPlatform

/// A call of an awaiting listener, which a post makes in a task.
///
/// A task may move between threads, so its call is a task-local value, and not a frame of a thread. Child
/// tasks are part of the call: it cannot return before them. Tasks that it starts in another way inherit the value, too, and
/// are not part of it. See ``isOfThisTask`` for how these two are distinguished, and ``AwaitedNotify`` for the frame of a
/// `notify` that awaits, which counts only in the task that made it.
final class AwaitedCall: Sendable {
  @TaskLocal private static var innermost: AwaitedCall?

  let cause: Cause

  /// The delivery of the post, if it is reported.
  let reported: ReportedDelivery

  private let office: PostOffice
  private let mailbox: Mailbox

  /// The post whose letter is being handled, and its list. The task owns both.
  private let post: ObjectIdentifier
  private let list: ObjectIdentifier

  /// False once the call has returned.
  private let isUnderWay = Atomic<Bool>(true)

  /// Where the call's task stores its task-local value.
  private let storage = Atomic<UInt>(0)

  private init(of post: Post, in mailbox: Mailbox, by office: PostOffice) {
    self.office = office
    self.mailbox = mailbox
    self.post = ObjectIdentifier(post)
    list = ObjectIdentifier(post.list)
    reported = unsafe post.trace?.reported ?? ReportedDelivery()
    cause = post.cause
  }

  /// The call that this code is part of, in its task or in a child task of that; nil if there is none.
  @inline(__always)
  static var current: AwaitedCall? { multicast_awaits_anywhere() ? currentOfTask : nil }

  @inline(never)
  private static var currentOfTask: AwaitedCall? {
    innermost.flatMap { $0.isOfThisTask ? $0 : nil }
  }

  /// Whether this task, which has inherited the call, is the call's or a child task of it.
  ///
  /// A child task reads the value where its parent stores it. Any other task has a copy in storage of its own. So while
  /// the call is under way, and its storage is in use, the address distinguishes the two. No public function can: a task does not
  /// know its parent, and two tasks that inherit the same value look alike.
  private var isOfThisTask: Bool {
    isUnderWay.load(ordering: .acquiring)
      && storage.load(ordering: .relaxed) == Self.storageOfThisTask
  }

  private static var storageOfThisTask: UInt {
    unsafe UInt(bitPattern: multicast_task_local(Unmanaged.passUnretained($innermost).toOpaque()))
  }

  /// Runs `body` as a call, in the caller's actor. Binds and counts the call, so that ``current`` finds it.
  nonisolated(nonsending) static func run(
    of post: Unmanaged<Post>, in mailbox: Mailbox, by office: PostOffice,
    _ body: nonisolated(nonsending) () async -> Void
  ) async {
    let call = unsafe post._withUnsafeGuaranteedRef { AwaitedCall(of: $0, in: mailbox, by: office) }
    multicast_count_awaiting(1)
    await $innermost.bind(call) {
      call.storage.store(storageOfThisTask, ordering: .relaxed)
      await body()
      // While the storage is still this call's. Later, it may belong to another task.
      call.isUnderWay.store(false, ordering: .releasing)
    }
    multicast_count_awaiting(-1)
  }
}

extension AwaitedCall {
  /// Whether an office makes this call.
  func isMade(by office: PostOffice) -> Bool { self.office === office }

  /// Whether a post has left a letter for the listener of this call, which is being handled or waits behind it. Waiting for that
  /// post, the call would wait for itself.
  func isAddressed(by post: Post) -> Bool {
    if self.post == ObjectIdentifier(post) { return true }
    // A task receives the posts of one topic, if it is a handler's, or else the posts that await its client. For any other post, it
    // does not have to look at all letters that wait, while the office is locked.
    let mayBeAddressed =
      switch mailbox.kind {
      case .clientTask(let client):
        if case .tasks = post.destination { post.roster.mayContain(client) } else { false }
      default: ObjectIdentifier(post.list) == list
      }
    return mayBeAddressed
      && office.lockAndRead(mailbox) { $0.letters.contains { $0.post === post } }
  }
}
