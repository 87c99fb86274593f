import Synchronization

/// A post on the heap, shared by all of its letters. ``PostOf`` adds its content.
///
/// A class and not a protocol, because each access to a protocol's property would retain the value.
///
/// Unchecked, because the compiler accepts only final classes. Every property here is a constant of a Sendable
/// type, or atomic. ``PostOf`` is the only subclass: the initializer is private to this file.
class Post: @unchecked Sendable {
  final let list: ClientList
  final let site: CallSite

  /// The post whose call made this one.
  final let parent: Cause?

  /// Reports the post and carries a value; nil if there is neither.
  final let trace: PostTrace?

  private let ownRecurrences = AtomicLazyReference<Recurrences>()

  fileprivate init(
    list: ClientList, site: CallSite, parent: Cause?, recurrences: Recurrences?, trace: PostTrace?
  ) {
    self.list = list
    self.site = site
    self.parent = parent
    self.trace = trace
    // A root post may have set off others before it moved to the heap.
    if parent == nil, let recurrences { _ = ownRecurrences.storeIfNil(recurrences) }
  }

  /// Counts the recurring posts that this one has set off.
  final var recurrences: Recurrences {
    if let parent { return parent.recurrences }
    return ownRecurrences.load() ?? ownRecurrences.storeIfNil(Recurrences())
  }

  /// The actor that the body names, if any. All clients are called there.
  var actor: (any Actor)? { nil }

  /// Whether calls are awaited.
  var isAwaited: Bool { false }

  /// Calls the client in a box, if it is alive.
  func call(_ box: WeakBox, on occasion: CallOccasion) -> CallOutcome { .refused }

  func callAwaiting(_ registration: Registration, letter: UInt64) async {}
}

/// The occasion of a call: a post is made or was pending, the letter of this number is handled, or the
/// client's queue is.
enum CallOccasion {
  case posting
  case letter(UInt64)
  case queue
}

/// The result of calling one client. `dead` means deallocated; `awaits` names the lane to call in.
enum CallOutcome {
  case called
  case dead

  /// The registration receives no more posts.
  case refused

  case awaits(PostOffice.LaneKey)

  /// Other posts come first. This one must be enqueued behind them.
  case queues(any PostQueue, Registration)

  /// The registration was replaced by this one, perhaps in another home.
  case moved(Registration)
}

/// The posts that a client without a home must receive before others.
protocol PostQueue: AnyObject, Sendable {
  /// Whether posts must be enqueued. Does not become false while the office's lock is held.
  var isOpen: Bool { get }

  /// Appends a post. The office's lock is held.
  func enqueue(_ post: QueuedPost)
}

struct QueuedPost: Sendable {
  let post: Post

  /// Kept until the post was handled or discarded.
  let receipt: (AnyObject & Sendable)?

  /// The letter's number; 0 if the post was in no letter.
  let number: UInt64

  init(_ post: Post, receipt: (AnyObject & Sendable)?) {
    self.post = post
    self.receipt = receipt
    number = 0
  }

  /// Takes the contents of a letter, which the caller ends later.
  init(_ letter: Letter) {
    post = letter.withPost { $0 }
    receipt = unsafe letter.receipt
    number = letter.number
  }
}

/// The part of a post that depends on its type: its recipients and what they receive.
protocol PostContent: Sendable {
  var actor: (any Actor)? { get }
  var isAwaited: Bool { get }

  func call(_ box: WeakBox, of list: ClientList, on occasion: CallOccasion) -> CallOutcome

  func callAwaiting(_ registration: Registration, letter: UInt64, in list: ClientList) async
}

extension PostContent {
  var actor: (any Actor)? { nil }
  var isAwaited: Bool { false }

  func callAwaiting(_ registration: Registration, letter: UInt64, in list: ClientList) async {}
}

/// A post of known content.
///
/// Unchecked, because the language demands that a subclass repeats it. The one property of its own is a constant
/// of a Sendable type.
final class PostOf<Content: PostContent>: Post, @unchecked Sendable {
  let content: Content

  init(
    _ content: Content, list: ClientList, site: CallSite, parent: Cause?, recurrences: Recurrences?,
    trace: PostTrace?
  ) {
    self.content = content
    super.init(list: list, site: site, parent: parent, recurrences: recurrences, trace: trace)
  }

  override var actor: (any Actor)? { content.actor }
  override var isAwaited: Bool { content.isAwaited }

  override func call(_ box: WeakBox, on occasion: CallOccasion) -> CallOutcome {
    content.call(box, of: list, on: occasion)
  }

  override func callAwaiting(_ registration: Registration, letter: UInt64) async {
    await content.callAwaiting(registration, letter: letter, in: list)
  }
}
