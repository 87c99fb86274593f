import MulticastPlatform

/// One post: whom it is for, where it was made, and what it says, which subclasses know.
///
/// Unchecked, because it has subclasses and variables. The office sets the variables before another thread can have the
/// post, or with its lock held.
@usableFromInline @safe
class Post: AtomicWord, @unchecked Sendable {
  /// Calls the client in a box with a post. A function without a context, made where the type of the client or the message
  /// is known: a method of a generic class is not specialized, and would look up its types.
  @usableFromInline typealias Call = @Sendable (WeakBox, Post) -> CallOutcome

  /// Which homes get the post.
  @usableFromInline enum Destination: Sendable {
    /// Each client's, or none.
    case homes

    /// The main actor for all.
    case mainActor

    /// A lane for each client.
    case lanes
  }

  final let list: ClientList
  final let site: CallSite

  /// The clients that the post is for.
  final let roster: Roster

  final let destination: Destination
  private final let call: Call

  /// Keeps the post for later observers; nil if it is not kept. The list has it.
  @exclusivity(unchecked) final var keeper: Unmanaged<Keeper>?

  /// The removals of its topic's latest message when it was made.
  final let removals: UInt64

  /// The number of a kept post; 0 for any other.
  @exclusivity(unchecked) final var number: UInt64 = 0

  /// Whether a newer post has been kept. Whoever is left a letter of this one is left one of that, too: see
  /// ``PostOffice/put(_:_:_:)``.
  @inline(never) final var isOutdated: Bool {
    unsafe keeper?._withUnsafeGuaranteedRef { unsafe number < $0.newest.load(ordering: .relaxed) }
      ?? false
  }

  /// Reports the post and carries a value; nil if there is neither.
  @exclusivity(unchecked) final var trace: PostTrace?

  /// Whether letters were left. For the thread that delivers the post.
  @exclusivity(unchecked) final var hasLetters = false

  /// Who waits until all have been called: see ``Posted/delivered()``.
  @exclusivity(unchecked) final var waiter: Waiter?

  @usableFromInline @safe
  init(
    to list: ClientList, from site: CallSite, _ destination: Destination = .homes,
    keeping keeper: Unmanaged<Keeper>? = nil, _ call: @escaping Call = { _, _ in .skipped }
  ) {
    unsafe self.keeper = keeper
    removals = unsafe keeper?._withUnsafeGuaranteedRef { $0.removals.load(ordering: .relaxed) } ?? 0
    roster = list.roster
    self.list = list
    self.site = site
    self.call = call
    self.destination = destination
    super.init(word: 0)
  }

  deinit { unsafe ownCause?.release() }

  /// Calls the client in a box.
  @inline(__always)
  final func call(_ box: WeakBox) -> CallOutcome { call(box, self) }

  /// The actor in which all clients are awaited; nil if each handler has its own, or none.
  var isolation: (any Actor)? { nil }

  /// Calls and awaits the client in a box, if it is still registered and alive. Called in its actor.
  nonisolated(nonsending) func callAwaiting(_ box: WeakBox) async {}

  /// The message of a topic's post; nil in others.
  var said: (any Sendable)? { nil }

  /// A post that says the same, to keep while somebody waits for this one to end.
  func copy() -> Post { self }
}

// MARK: - As a cause

extension Post {
  /// This post as the cause of others, once there are any. The word is the address of a retained object, and is set once.
  final var ownCause: Unmanaged<Cause>? {
    unsafe Self.cause(
      at: withWord { word in unsafe multicast_load(word, AtomicOrdering.acquiring.rawValue) })
  }

  /// This post as the cause of others.
  final var cause: Cause {
    unsafe ownCause?.takeUnretainedValue() ?? setCause(Cause(site: site, parent: nil))
  }

  /// Returns the cause that is set: this one, or the one that another thread has set before.
  @discardableResult
  final func setCause(_ cause: Cause) -> Cause {
    let new = unsafe Unmanaged.passRetained(cause)
    let old = unsafe withWord { word in
      unsafe multicast_compare_exchange(
        word, 0, UInt64(UInt(bitPattern: new.toOpaque())),
        AtomicOrdering.acquiringAndReleasing.rawValue)
    }
    guard let old = unsafe Self.cause(at: old) else { return cause }
    unsafe new.release()
    return unsafe old.takeUnretainedValue()
  }

  private static func cause(at address: UInt64) -> Unmanaged<Cause>? {
    unsafe UnsafeRawPointer(bitPattern: UInt(address)).map { unsafe .fromOpaque($0) }
  }
}

/// Resumes who waits when it is released.
final class Waiter: Sendable {
  private let continuation: CheckedContinuation<Void, Never>
  private let scheduler: (any LetterScheduler)?
  private let isInCall: Bool

  init(_ continuation: CheckedContinuation<Void, Never>, in office: PostOffice) {
    self.continuation = continuation
    scheduler = office.scheduler
    isInCall = scheduler != nil && AwaitedCall.current != nil
  }

  deinit {
    guard let scheduler else { return continuation.resume() }
    scheduler.endWait(inCall: isInCall) { [continuation] in continuation.resume() }
  }
}

/// A post that says nothing: it finds the deallocated clients of a list, each at home.
///
/// Unchecked like its superclass. It adds nothing.
final class SearchForDead: Post, @unchecked Sendable {
  init(in list: ClientList, from site: CallSite) {
    super.init(to: list, from: site) { box, _ in box.load() == nil ? .dead : .skipped }
  }
}
