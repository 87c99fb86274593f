import Synchronization

/// What was posted, as far as it can be handled without its type.
protocol Post: AnyObject, Sendable {
  /// The list whose clients it is for.
  var list: ClientList { get }

  var site: CallSite { get }

  /// The post in whose call this one was made.
  var parent: Cause? { get }

  /// The recurring posts that this one has set off.
  var recurrences: Recurrences { get }

  /// The actor that everybody is to be called in, if the body names one.
  var actor: (any Actor)? { get }

  /// Whether every call is awaited.
  var isAwaited: Bool { get }

  /// What goes along; nil if there is nothing to tell or to carry.
  var trace: PostTrace? { get }

  /// Calls the client in a box of the list. The client may be dead.
  func call(_ box: WeakBox, on occasion: CallOccasion) -> CallOutcome

  /// Calls and awaits a client, if it is registered and alive.
  func callAwaiting(_ registration: Registration, letter: UInt64) async
}

/// When a client is called with a post.
enum CallOccasion {
  /// While the post is made, or follows another one.
  case posting

  /// While the letter of this number is handled.
  case letter(UInt64)

  /// While the client's queue is handled.
  case queue
}

/// What became of the call of one client.
enum CallOutcome {
  case called

  /// The client is not alive.
  case dead

  /// The registration takes no more posts.
  case refused

  /// The client is to be called in a lane.
  case awaits(PostOffice.LaneKey)

  /// The client has to be called with other posts first: this one is to be put behind them.
  case queues(any PostQueue, Registration)

  /// The registration has another number now, and perhaps another home.
  case moved(Registration)
}

/// The posts that a client without a home has to be called with before others.
protocol PostQueue: AnyObject, Sendable {
  /// Whether posts have to be put behind others. It does not end while the office's lock is held.
  var isOpen: Bool { get }

  /// Puts a post behind the others. The office's lock is held.
  func enqueue(_ post: QueuedPost)
}

struct QueuedPost: Sendable {
  let post: any Post

  /// What is kept until the post was handled or given up.
  let receipt: (AnyObject & Sendable)?

  /// The number of the letter that it was; 0 if it was none.
  let number: UInt64

  init(_ post: any Post, receipt: (AnyObject & Sendable)?) {
    self.post = post
    self.receipt = receipt
    number = 0
  }

  /// What a letter was, whose end is still to come.
  init(_ letter: Letter) {
    post = unsafe letter.post
    receipt = unsafe letter.receipt
    number = letter.number
  }
}

/// What differs between posts: whom they call, and with what.
protocol PostContent: Sendable {
  var actor: (any Actor)? { get }
  var isAwaited: Bool { get }

  /// Calls the client in a box of the list.
  func call(_ box: WeakBox, of list: ClientList, on occasion: CallOccasion) -> CallOutcome

  /// Calls and awaits a client, if it is registered and alive.
  func callAwaiting(_ registration: Registration, letter: UInt64, in list: ClientList) async
}

extension PostContent {
  var actor: (any Actor)? { nil }
  var isAwaited: Bool { false }

  func callAwaiting(_ registration: Registration, letter: UInt64, in list: ClientList) async {}
}

/// A post on the heap: it is shared by all of its letters.
final class PostOf<Content: PostContent>: Post {
  let list: ClientList
  let site: CallSite
  let parent: Cause?
  let content: Content
  let trace: PostTrace?
  private let ownRecurrences = AtomicLazyReference<Recurrences>()

  init(
    _ content: Content, list: ClientList, site: CallSite, parent: Cause?, recurrences: Recurrences?,
    trace: PostTrace?
  ) {
    self.content = content
    self.list = list
    self.site = site
    self.parent = parent
    self.trace = trace
    // A root post may have set off others before it came to the heap.
    if parent == nil, let recurrences { _ = ownRecurrences.storeIfNil(recurrences) }
  }

  var actor: (any Actor)? { content.actor }
  var isAwaited: Bool { content.isAwaited }

  var recurrences: Recurrences {
    if let parent { return parent.recurrences }
    return ownRecurrences.load() ?? ownRecurrences.storeIfNil(Recurrences())
  }

  func call(_ box: WeakBox, on occasion: CallOccasion) -> CallOutcome {
    content.call(box, of: list, on: occasion)
  }

  func callAwaiting(_ registration: Registration, letter: UInt64) async {
    await content.callAwaiting(registration, letter: letter, in: list)
  }
}
