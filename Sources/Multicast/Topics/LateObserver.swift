import Dispatch
import Synchronization

/// An observer whose handler runs elsewhere, and therefore later, than the post.
final class LateObserver<Message: Sendable>: TopicObserver, @unchecked Sendable {
  // Unchecked, because its superclass is. What it adds is of Sendable types: a constant handler, a mailbox
  // with a lock, an atomic, and a weak reference, a variable for the compiler, that is assigned in `init`
  // alone and that any thread may load.

  typealias Letter = Mailbox<Message>.Letter

  enum Handler: Sendable {
    case isolated(any Actor, TopicHandler.Call)
    case queued(DispatchQueue, TopicHandler.Call)

    /// In a task. The actor, if there is one, is where the closure itself hops to.
    case awaited(in: (any Actor)?, @Sendable (AnyObject, Message) async -> Void)
  }

  private let handler: Handler
  private let mailbox = Mailbox<Message>()

  /// Whether a letter is being handled, further up the stack. Of use only inside the handler's actor.
  private let isHandling = Atomic<Bool>(false)

  private weak var lateOwner: (AnyObject & Sendable)?

  init(
    owner: AnyObject & Sendable, id: (any Hashable & Sendable)?, once: Bool, handler: Handler
  ) {
    self.handler = handler
    lateOwner = owner
    super.init(owner: owner, id: id, once: once, call: nil)
  }

  override func deliver(
    _ message: ErasedMessage, owner: AnyObject, isolation: (any Actor)?, receipt: Receipt?
  ) {
    let isWaitedFor = receipt?.wait(for: ObjectIdentifier(self)) ?? false
    let letter = Letter(
      message: message.borrow(as: Message.self) { $0 },
      receipt: isWaitedFor ? receipt : nil)
    if case .isolated(let actor, let call) = handler, actor.isCurrent(from: isolation) {
      callHere(call, owner, letter)
    } else if mailbox.put(letter) {
      drain()
    }
  }

  override func giveUpLetters() { mailbox.removeAll() }

  override var isolation: HandlerIsolation {
    switch handler {
    case .isolated(let actor, _): .actor(TypeIdentity(type(of: actor)))
    case .queued(let queue, _): .queue(label: queue.label)
    case .awaited(let actor, _): .task(actor: actor.map { TypeIdentity(type(of: $0)) })
    }
  }

  /// Calls the handler in the actor that it belongs to, which is the current one, behind the messages
  /// that came from elsewhere before.
  private func callHere(_ call: TopicHandler.Call, _ owner: AnyObject, _ letter: Letter) {
    let waiting = mailbox.putUnlessEmpty(letter)
    guard waiting > 0 else {
      Self.call(call, owner, letter)
      return finish(letter)
    }
    // Who handles letters further up the stack comes to this one, too. To handle them in here would nest
    // calls that have nothing to do with each other, and look like a loop to the guard.
    if isHandling.load(ordering: .relaxed) { return }
    // The letter of this post is among the first ones. What others go on putting in is left to the
    // drain that is under way, since the mailbox was not empty.
    var turns = max(waiting, Self.turn)
    while turns > 0, let letter = mailbox.pop() {
      handle(letter, call)
      turns -= 1
    }
  }
}

// MARK: - Handling

extension LateObserver {
  /// How many messages an actor or a queue handles before it lets others have a turn.
  private static var turn: Int { 100 }

  private func drain() {
    switch handler {
    // Detached, because the task-local values of whoever posts first are not those of the others.
    case .isolated(let actor, let call):
      Task.detached(priority: Task.currentPriority) { [self] in
        await handleAll(call, isolation: actor)
      }
    case .queued(let queue, let call): handleSome(call, on: queue)
    case .awaited(_, let call):
      Task.detached(priority: Task.currentPriority) { [self] in await handleAll(awaiting: call) }
    }
  }

  /// The owner, if a letter is to be handled still.
  private var ownerOfLetters: (AnyObject & Sendable)? { status.isCancelled ? nil : lateOwner }

  private func handle(_ letter: Letter, _ call: TopicHandler.Call) {
    isHandling.store(true, ordering: .relaxed)
    defer { isHandling.store(false, ordering: .relaxed) }
    if let owner = ownerOfLetters { Self.call(call, owner, letter) }
    finish(letter)
  }

  /// Called when a letter has been handled.
  private func finish(_ letter: Letter) {
    extendLifetime(letter.receipt)
    leaveAfterOne()
  }

  private func handleSome(_ call: @escaping TopicHandler.Call, on queue: DispatchQueue) {
    queue.async { [self] in
      for _ in 0..<Self.turn {
        guard let letter = mailbox.next() else { return }
        handle(letter, call)
      }
      handleSome(call, on: queue)
    }
  }

  private static func call(_ call: TopicHandler.Call, _ owner: AnyObject, _ letter: Letter) {
    ErasedMessage.lend(letter.message) { message in call(owner, message) }
  }

  private func handleAll(_ call: TopicHandler.Call, isolation: isolated any Actor) async {
    // A letter is taken out and handled without a suspension between, so that a post in this actor
    // cannot overtake it.
    var handled = 0
    while let letter = mailbox.next() {
      handle(letter, call)
      handled += 1
      if handled % Self.turn == 0 { await Task.yield() }
    }
  }

  private func handleAll(awaiting call: @Sendable (AnyObject, Message) async -> Void) async {
    while let letter = mailbox.next() {
      guard let owner = ownerOfLetters else { continue }
      let handling = Handling(of: ObjectIdentifier(self))
      await Handling.$current.withValue(handling) { await call(owner, letter.message) }
      handling.end()
      finish(letter)
    }
  }
}
