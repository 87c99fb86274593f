/// A post on the heap, shared by all of its letters.
@usableFromInline
final class Post: Sendable {
  /// Calls the client in a box with a post. `addressee` is that of the letter; nil without a letter.
  @usableFromInline
  typealias Call = @Sendable (_ box: WeakBox, Post, _ addressee: Letter.Addressee?) -> CallOutcome

  /// Calls and awaits one client, if it is still registered and alive.
  typealias AwaitingCall =
    @Sendable (_ registration: Registration, Post, Letter.Addressee) async -> Void

  /// What a post has from the moment it is made.
  struct Origin {
    /// The post is for registrations with smaller numbers.
    var limit: UInt64

    /// The post whose call made this one.
    let parent: Cause?

    /// The counter of a post that has set off others before it moved to the heap.
    let recurrences: Recurrences?

    let trace: PostTrace?
  }

  let list: ClientList
  let site: CallSite

  let limit: UInt64
  let parent: Cause?

  /// Reports the post and carries a value; nil if there is neither.
  let trace: PostTrace?

  /// What a topic's handlers receive.
  let message: any Sendable

  private let call: Call

  let callAwaiting: AwaitingCall

  private let ownRecurrences = AtomicLazyReference<Recurrences>()

  init(
    _ posting: borrowing Posting, _ origin: Origin, message: any Sendable = (),
    call: @escaping Call, callAwaiting: @escaping AwaitingCall = { _, _, _ in }
  ) {
    list = posting.list
    site = posting.site
    limit = origin.limit
    parent = origin.parent
    trace = origin.trace
    self.message = message
    self.call = call
    self.callAwaiting = callAwaiting
    if parent == nil, let recurrences = origin.recurrences {
      _ = ownRecurrences.storeIfNil(recurrences)
    }
  }

  /// Counts the recurring posts that this one has set off.
  var recurrences: Recurrences {
    if let parent { return parent.recurrences }
    return ownRecurrences.load() ?? ownRecurrences.storeIfNil(Recurrences())
  }

  /// This post as the cause of others.
  var cause: Cause { Cause(site: site, parent: parent, recurrences: recurrences) }

  @inline(__always)
  func call(_ box: WeakBox, as addressee: Letter.Addressee?) -> CallOutcome {
    call(box, self, addressee)
  }
}

// MARK: - Reporting

extension Post {
  /// Handles a letter in a home: runs `body`, which calls clients.
  @inline(__always)
  func reporting(in home: Place, _ body: (DeliveryPass?) -> Void) {
    guard let trace else { return body(nil) }
    trace.handle(in: home.reported, body)
  }

  /// Handles a letter in a task: runs `body`, which calls and awaits a client of this type, if it is alive.
  func reporting(in home: Place, client: (any Any.Type)?, _ body: () async -> Void) async {
    guard let trace else { return await body() }
    await trace.handle(in: home.reported, client: client, body)
  }
}

extension Place {
  /// The home as reports name it; nil for the posting thread.
  var reported: DeliveryEvent.Home? { reported(waiting: nil) }

  func reported(waiting: Int?) -> DeliveryEvent.Home? {
    let kind: DeliveryEvent.Home.Kind
    switch self {
    case .mainActor: kind = .actor(MainActor.self)
    case .actor(let reference): kind = .actor(reference.actor.map { type(of: $0) })
    case .queue(let queue): kind = .queue(queue.queue.label)
    case .task: kind = .task
    case .postingThread: return nil
    }
    return DeliveryEvent.Home(kind, waiting: waiting)
  }
}

/// The arguments of one post. A copy would retain everything that it refers to.
struct Posting: ~Copyable {
  let list: ClientList
  let site: CallSite

  /// The actor in which the calling code is written.
  let isolation: ObjectIdentifier?

  /// The home that the body names, if any.
  let named: Mailbox?

  /// Whether clients are called in tasks of their own, whatever homes they have.
  let isAwaited: Bool

  /// Keeps the post for later clients; nil for a post that is not kept.
  let keeper: Keeper?

  /// Released when every client has received the post.
  let receipt: Receipt?

  init(
    to list: ClientList, from site: CallSite, isolation: ObjectIdentifier?, named: Mailbox? = nil,
    isAwaited: Bool = false, keeper: Keeper? = nil, receipt: Receipt? = nil
  ) {
    self.list = list
    self.site = site
    self.isolation = isolation
    self.named = named
    self.isAwaited = isAwaited
    self.keeper = keeper
    self.receipt = receipt
  }

  /// The same post with a receipt.
  borrowing func waited(by receipt: Receipt) -> Posting {
    Posting(
      to: list, from: site, isolation: isolation, named: named, isAwaited: isAwaited,
      keeper: keeper, receipt: receipt)
  }
}
