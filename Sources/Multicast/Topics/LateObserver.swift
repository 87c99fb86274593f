import Dispatch

/// An observer whose handler runs elsewhere, and therefore later, than the post.
final class LateObserver<Message: Sendable>: TopicObserver, @unchecked Sendable {
  // Unchecked, because its superclass is. All of it is constant and Sendable.

  typealias Letter = Mailbox<Message>.Letter

  enum Handler: Sendable {
    case isolated(any Actor, TopicHandler.Call)
    case queued(DispatchQueue, TopicHandler.Call)
    case awaited(@Sendable (AnyObject, Message) async -> Void)
  }

  private let handler: Handler
  private let mailbox = Mailbox<Message>()
  private weak let lateOwner: (AnyObject & Sendable)?

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
    let isWaitedForInVain = receipt?.waiting.contains(ObjectIdentifier(self)) ?? false
    let letter = Letter(
      message: message.borrow(as: Message.self) { $0 },
      receipt: isWaitedForInVain ? nil : receipt)
    if case .isolated(let actor, let call) = handler, actor.isCurrent(from: isolation) {
      callHere(call, owner, letter)
    } else if mailbox.put(letter) {
      drain()
    }
  }

  /// Calls the handler in the actor that it belongs to, which is the current one, behind the messages
  /// that came from elsewhere before.
  private func callHere(_ call: TopicHandler.Call, _ owner: AnyObject, _ letter: Letter) {
    let waiting = mailbox.putUnlessEmpty(letter)
    guard waiting > 0 else { return Self.call(call, owner, letter) }
    for _ in 0..<waiting {
      // A handler that posts has delivered some of them itself.
      guard let letter = mailbox.pop() else { return }
      handle(letter, call)
    }
  }
}

// MARK: - Handling

extension LateObserver {
  /// How many messages an actor handles before it lets others have a turn.
  private static var turn: Int { 100 }

  private func drain() {
    switch handler {
    case .isolated(let actor, let call):
      Task { await handleAll(call, isolation: actor) }
    case .queued(let queue, let call):
      queue.async { [self] in
        while let letter = mailbox.next() { handle(letter, call) }
      }
    case .awaited(let call):
      Task { await handleAll(awaiting: call) }
    }
  }

  /// The owner, if a letter is to be handled still.
  private var ownerOfLetters: (AnyObject & Sendable)? { status.isCancelled ? nil : lateOwner }

  private func handle(_ letter: Letter, _ call: TopicHandler.Call) {
    if let owner = ownerOfLetters { Self.call(call, owner, letter) }
    extendLifetime(letter.receipt)
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
      let waiting = (letter.receipt?.waiting ?? []) + [ObjectIdentifier(self)]
      await Receipt.$waiting.withValue(waiting) { await call(owner, letter.message) }
      extendLifetime(letter.receipt)
    }
  }
}
