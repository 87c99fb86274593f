// The objects of a delivery, and their owners:
//
// | object     | owners                                               | is destroyed                                             |
// | ---------- | ---------------------------------------------------- | -------------------------------------------------------- |
// | post       | the thread that delivers it; the frame that it       | where its last part is finished, its successor is stored |
// |            | follows; each letter of it; a topic's LatestStore;   | or the `Posted` ends, with no lock held: its body is     |
// |            | the user's `Posted`                                  | client code                                              |
// | roster     | its list, until that changes; each post for it; a    | with its post, after the calls, or when the list changes |
// |            | LatestStore, for a withdrawn post                    |                                                          |
// | box        | its list, perhaps for a while after its removal; the | with no lock held: an id in it is client code            |
// |            | rosters, walks, searches and tokens with it          |                                                          |
// | mailbox    | the office; a topic's LatestStore; the boxes and the | after unlocking                                          |
// |            | rosters with its home; a drain; an AwaitedCall       |                                                          |
//
// A frame refers to the post that it is calling for without retaining it, and so does a `DeliveryState` to the mailboxes and
// groups of the roster. The function that delivers owns the post, and the post its roster. A `DeliveryState` owns a roster that
// is not the post's.

/// One post: the listeners that it is for, its call site, and its cause. Subclasses contain the body or the message.
///
/// A post has *parts*: the delivery on the posting thread, and each letter that this leaves. Each part ends with
/// ``finishPart(of:)``, and with the last one the post is finished. A post that a topic stores as its latest message stays in
/// memory, but it is finished, too.
///
/// `@unchecked`, because it has variables. The posting thread (of a copy, the observing one) sets `number` and `trace` before
/// it leaves the first letter, and other threads read them after they have taken a letter or the stored post, with the office's lock.
/// `waiter` is protected by the count of the parts: see ``setWaiter(_:)``.
@usableFromInline @safe
class Post: ReferenceAndCount, @unchecked Sendable {
  /// Calls the listener in a box with a post.
  ///
  /// A function without a context, made where the type of the client or the message is known. A method that a subclass overrides
  /// would do the same, but methods of generic classes are not specialized, and look up their types in each call.
  @usableFromInline typealias Call = @Sendable (WeakBox, Post) -> CallOutcome

  /// Which mailboxes get letters.
  @usableFromInline enum Destination: Sendable {
    /// That of each listener's home. Listeners without a home are called on the posting thread.
    case homes

    /// That of the main actor, for all clients.
    case mainActor

    /// For each client, that of a task, which calls and awaits it.
    case tasks
  }

  final let list: ClientList

  /// The listeners at the moment at which the post was made. A post that a topic stores is for those of a later moment: see
  /// ``LatestStore/storePost(_:_:_:)``.
  final let roster: Roster

  final let destination: Destination

  /// ``ClientPost/callClient(in:with:)`` or ``callHandler(in:with:)``. A drain that awaits uses ``callAwaiting(_:)`` instead.
  final let callListener: Call

  final let site: CallSite

  /// Where the topic stores its latest message; nil if it does not. The list owns it, and the post owns the list.
  final let store: Unmanaged<LatestStore>?

  /// Orders the posts to topics that keep their latest message. 0 before the post is stored or, if it was withdrawn, leaves its
  /// letters, and for other topics. A withdrawn post then gets the number of the newest stored post.
  @exclusivity(unchecked) final var number: UInt64 = 0

  /// Reports the post and carries a value; nil if the center does neither.
  @exclusivity(unchecked) final var trace: PostTrace?

  @exclusivity(unchecked) private final var waiter: Waiter?

  @usableFromInline @safe
  init(
    to list: ClientList, from site: CallSite, _ destination: Destination = .homes,
    in store: Unmanaged<LatestStore>? = nil, for roster: Roster? = nil,
    _ call: @escaping Call = { _, _ in .skipped }
  ) {
    self.roster = roster ?? list.roster
    self.list = list
    callListener = call
    self.destination = destination
    self.site = site
    unsafe self.store = store
    super.init(count: 1)
  }

  /// The post as a cause; nil if it has no cause itself and nothing has asked for it as one.
  @inline(__always)
  final var knownCause: Cause? { reference(as: Cause.self) }

  /// The post as the cause of others.
  final var cause: Cause { knownCause ?? setCause(Cause(site: site, parent: nil)) }

  /// Sets the post as a cause, unless another thread has. Returns the one that counts.
  @discardableResult
  final func setCause(_ cause: Cause) -> Cause { setReference(cause) }

  /// Whether a newer message has been stored, so that a handler with `newestOnly` skips this one.
  @inline(never) final var isOutdated: Bool {
    unsafe store?._withUnsafeGuaranteedRef { unsafe number < $0.newest.load(ordering: .relaxed) }
      ?? false
  }

  /// Calls and awaits the listener in a box, in its actor. Returns whether the listener was called.
  nonisolated(nonsending) func callAwaiting(_ box: WeakBox) async -> Bool { false }

  /// The actor in which all clients are awaited; nil if each has its own, or none.
  var isolation: (any Actor)? { nil }

  /// The message of a topic's post; nil in others.
  var anyMessage: (any Sendable)? { nil }

  /// A post of the same message to one handler, which observes the topic now.
  func copy(for roster: Roster) -> Post { fatalError("Only the posts of topics are stored.") }

  /// Reports a pass of this post over listeners. `body` calls them. Call this if the post has a trace.
  ///
  /// Not inlined, because a post that is not traced would then retain what `body` captures.
  @inline(never)
  final func withPass<Result>(
    waited: Bool, in home: Home?, _ body: (DeliveryPass?) -> Result
  ) -> Result {
    guard let trace = unsafe trace else { return body(nil) }
    unsafe DeliveryChain().innermost.pointee?.pointee.reported = trace.reported
    return trace.tracePass(waited: waited, in: home, body)
  }
}

// MARK: - The end of a post

extension Post {
  /// A bit of the count of unfinished parts: a task waits.
  private static var hasWaiter: UInt64 { 1 << 63 }

  /// Adds a part for each letter. Call this with the office's lock held, so that no other thread can take a letter before its
  /// part is counted.
  @inline(__always)
  final func addParts(_ letters: Int) { _ = addToCount(UInt64(letters)) }

  /// Returns what the count was before.
  @inline(__always)
  private final func removePart() -> UInt64 { addToCount(.max) }

  /// Finishes one part of a post, and releases the post, which the caller has retained. Resumes the task that waits, if this
  /// was the last part.
  ///
  /// The task is resumed after the post has been released, so that what the post holds is usually destroyed in the listener's home,
  /// and not by the task.
  @inline(__always)
  static func finishPart(of post: Unmanaged<Post>) {
    let waiter: Waiter? = unsafe post._withUnsafeGuaranteedRef { post in
      post.removePart() == hasWaiter + 1 ? unsafe post.waiter : nil
    }
    unsafe post.release()
    waiter?.resume()
  }

  /// Lets a waiter resume its task when the post is finished. Call this at most once; ``Posted`` is not copyable.
  ///
  /// Setting the bit publishes the waiter to the thread that finishes the last part. If all parts are finished by then, no
  /// thread will look at it.
  final func setWaiter(_ waiter: Waiter) {
    unsafe self.waiter = waiter
    // From here on, the last `finishPart` resumes it.
    if addToCount(Self.hasWaiter) == 0 { waiter.resume() }
  }
}
