/// One post: whom it is for, where it was made, and what it says, which subclasses know.
///
/// A post lives until its last client has been called. Its end is the completion that ``Posted/delivered()`` waits for: the
/// post owns a ``Waiter``, which resumes the task when it is released.
///
/// Unchecked, because it has subclasses and variables. The office sets the variables before another thread can have the
/// post, or with its lock held.
@usableFromInline @safe
class Post: OnceReference, @unchecked Sendable {
  /// Calls the client in a box with a post. A function without a context, made where the type of the client or the message
  /// is known: a method of a generic class is not specialized, and would look up its types.
  @usableFromInline typealias Call = @Sendable (WeakBox, Post) -> CallOutcome

  /// Which mailboxes get a letter.
  @usableFromInline enum Destination: Sendable {
    /// That of each client's home. Clients without a home are called at once.
    case homes

    /// That of the main actor, for all clients.
    case mainActor

    /// That of a task for each client, which awaits it.
    case tasks
  }

  final let list: ClientList

  /// The clients that the post is for.
  final let roster: Roster

  final let destination: Destination
  private final let call: Call

  final let site: CallSite

  /// Where the post is kept for later observers; nil if it is not kept. The list has it.
  @exclusivity(unchecked) private(set) final var latest: Unmanaged<LatestPost>?

  /// The number of removals of its topic's latest message when the post was made.
  final let removals: UInt64

  /// The number of a kept post; 0 for any other.
  @exclusivity(unchecked) final var number: UInt64 = 0

  /// Reports the post and carries a value; nil if there is neither.
  @exclusivity(unchecked) final var trace: PostTrace?

  /// Whether letters were left. For the thread that delivers the post.
  @exclusivity(unchecked) final var hasLetters = false

  @exclusivity(unchecked) final var waiter: Waiter?

  @usableFromInline @safe
  init(
    to list: ClientList, from site: CallSite, _ destination: Destination = .homes,
    keptIn latest: Unmanaged<LatestPost>? = nil, _ call: @escaping Call = { _, _ in .skipped }
  ) {
    unsafe self.latest = latest
    removals = unsafe latest?._withUnsafeGuaranteedRef { $0.removals.load(ordering: .relaxed) } ?? 0
    roster = list.roster
    self.list = list
    self.call = call
    self.destination = destination
    self.site = site
    super.init()
  }

  final func doNotKeep() { unsafe latest = nil }

  /// This post as the cause of others, if it has a cause or has been one.
  @inline(__always)
  final var ownCause: Cause? { value(as: Cause.self) }

  /// This post as the cause of others.
  final var cause: Cause { ownCause ?? set(Cause(site: site, parent: nil)) }

  final var hasHomeless: Bool {
    if case .homes = destination { !roster.homeless.isEmpty } else { false }
  }

  /// Whether the post goes to a mailbox, or is to be kept.
  final var hasLettersToLeave: Bool {
    if case .homes = destination { unsafe !roster.homes.isEmpty || latest != nil } else { true }
  }

  /// Whether a newer post has been kept, whose letter waits behind the one of this post.
  @inline(never) final var isOutdated: Bool {
    unsafe latest?._withUnsafeGuaranteedRef { unsafe number < $0.newest.load(ordering: .relaxed) }
      ?? false
  }

  /// Calls the client in a box.
  @inline(__always)
  final func call(_ box: WeakBox) -> CallOutcome { call(box, self) }

  /// Runs `body`, which calls clients with this post, and reports it if posts are reported.
  @inline(__always)
  final func report<Result>(
    waited: Bool, in home: Home?, _ body: (DeliveryPass?) -> Result
  ) -> Result {
    guard let trace = unsafe trace else { return body(nil) }
    return trace.report(waited: waited, in: home, body)
  }

  /// The actor in which all clients are awaited; nil if each handler has its own, or none.
  var isolation: (any Actor)? { nil }

  /// Calls and awaits the client in a box, if it is still registered and alive. Called in its actor.
  nonisolated(nonsending) func callAwaiting(_ box: WeakBox) async {}

  /// The message of a topic's post; nil in others.
  var said: (any Sendable)? { nil }

  /// A post that says the same, to keep while somebody waits for this one to end.
  func copy() -> Post { self }
}

/// A post that says nothing: it finds the deallocated clients of a list, each at home.
///
/// Unchecked like its superclass. It adds nothing.
final class SearchForDead: Post, @unchecked Sendable {
  init(in list: ClientList, from site: CallSite) {
    super.init(to: list, from: site) { box, _ in box.load() == nil ? .dead : .skipped }
  }
}
