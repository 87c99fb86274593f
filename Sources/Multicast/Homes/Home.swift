/// Where `post` calls a listener: an actor, a queue, a task for awaited calls, or the posting thread, for one call at a time.
///
/// Every home is a mailbox: see ``Home/mailbox``. This is the superclass of mailboxes, so that boxes can have homes and know
/// nothing of letters.
///
/// `@unchecked`, because `Mailbox` inherits from it. The one property here is a constant.
@usableFromInline
package class Home: @unchecked Sendable {
  enum Kind: Sendable {
    /// The main actor, and the main queue.
    case mainActor

    /// Another actor, held weakly.
    case actor(WeakActor)

    case queue(MarkedQueue)

    /// A task that makes one awaited call after the other, of the client with this identity.
    case clientTask(UInt)

    /// A task that makes one awaited call after the other, of an awaiting handler in its actor.
    case handlerTask(in: WeakActor?)

    /// The posting or observing thread, one call at a time. If a topic keeps its latest message, this is the home of its handlers
    /// without an actor or a queue. The documentation says that such handlers have no home.
    case postingThread
  }

  final let kind: Kind

  init(_ kind: Kind) { self.kind = kind }
}

extension Home {
  /// Whether this thread runs in this home: for a task, in its actor. For the posting thread, and for a task without an
  /// actor, the answer is `here` on every thread.
  ///
  /// Call this with no lock held, because it may run the code of a custom executor.
  ///
  /// - Parameter isolation: The actor in which the code that asks is written. It is known to be here.
  final func presence(in isolation: ObjectIdentifier? = nil) -> Presence {
    switch kind {
    case .mainActor: MainActor.presence(in: isolation)
    case .actor(let reference), .handlerTask(let reference?):
      // In the actor's own `isolated deinit`, the weak reference is nil, so compare addresses. If this home's actor has ended,
      // another one may have its address. To be "here" is then as right as "ended": any thread may call the listeners that are
      // left.
      if let isolation, isolation.address == reference.address {
        .here
      } else {
        reference.actor?.presence() ?? (isInActor(at: reference.address) ? .here : .ended)
      }
    case .queue(let queue): queue.presence
    case .clientTask, .handlerTask, .postingThread: .here
    }
  }

  /// Whether a post that is made on this thread calls the listeners of this home before it returns, unless the home is claimed
  /// already. A task makes its own calls.
  final func callsHere(in isolation: ObjectIdentifier?) -> Bool {
    !isTask && presence(in: isolation) == .here
  }

  /// Whether this thread may load and release the listeners of this home. Any thread may if the actor has been deallocated.
  ///
  /// - Parameter current: A home in which this thread is known to run.
  final func mayLoad(from current: Home? = nil) -> Bool {
    if self === current { return true }
    return switch presence(in: current?.actor.map { ObjectIdentifier($0) }) {
    case .here, .ended: true
    case .elsewhere, .unknown: false
    }
  }

  /// Runs `body` in this home: on the queue, or in the actor. Runs it in no actor if there is none, or if it has been deallocated.
  package final func run<Result: Sendable>(
    _ body: @escaping @Sendable () -> Result
  ) async -> Result {
    func run(in isolation: isolated (any Actor)?) -> Result { body() }
    guard case .queue(let queue) = kind else { return await run(in: actor) }
    return await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: body()) }
    }
  }

  /// The actor that is this home, or in which its task runs; nil if there is none, or if it has been deallocated.
  final var actor: (any Actor)? {
    switch kind {
    case .mainActor: MainActor.shared
    case .actor(let reference), .handlerTask(let reference?): reference.actor
    case .queue, .clientTask, .handlerTask, .postingThread: nil
    }
  }

  /// The address of the actor or queue; 0 if there is none. After that has been deallocated, the address may be that of another
  /// object.
  final var address: UInt {
    switch kind {
    case .mainActor: ObjectIdentifier(MainActor.shared).address
    case .actor(let reference), .handlerTask(let reference?): reference.address
    case .queue(let queue): queue.address
    case .clientTask, .handlerTask, .postingThread: 0
    }
  }

  /// Whether a task calls the listeners of this home, so that no posting thread does.
  final var isTask: Bool {
    switch kind {
    case .clientTask, .handlerTask: true
    case .mainActor, .actor, .queue, .postingThread: false
    }
  }

  final var isPostingThread: Bool {
    if case .postingThread = kind { true } else { false }
  }

  /// Whether this is the home of the actor or queue at an address. The caller holds that object, so the weak load does not drop
  /// its last reference, and a lock may be held. A deallocated actor may have had this address, so the reference must still
  /// lead to an actor. Always false for the main actor, which is found without its address.
  final func isAt(_ address: UInt) -> Bool {
    switch kind {
    case .actor(let reference): reference.address == address && reference.actor != nil
    case .queue(let queue): queue.address == address
    case .mainActor, .clientTask, .handlerTask, .postingThread: false
    }
  }
}

extension Home: CustomStringConvertible {
  /// The home as reports and wirings name it.
  @usableFromInline package final var description: String {
    switch kind {
    case .mainActor: "MainActor"
    case .actor(let reference): reference.actor.map { "\(type(of: $0))" } ?? "an actor"
    case .queue(let queue): queue.label.isEmpty ? "queue" : "queue \(queue.label)"
    case .handlerTask(let reference?):
      reference.actor.map { "task in \(type(of: $0))" } ?? "task"
    case .clientTask, .handlerTask: "task"
    case .postingThread: "posting thread"
    }
  }
}

extension MainActor {
  /// Whether this thread runs in the main actor or on the main queue.
  package static var isHere: Bool { presence() == .here }

  /// Whether this thread runs in the main actor or on the main queue.
  static func presence(in isolation: ObjectIdentifier? = nil) -> Presence {
    // Ask the queue first. It answers faster, and where the main actor runs, the answer is usually yes.
    if MarkedQueue.main.presence == .here || isolation == ObjectIdentifier(shared) { return .here }
    return shared.presence()
  }
}

/// A weak reference to an actor.
///
/// `@unchecked`, because before `weak let` of Swift 6.3 a weak reference has to be a variable. Only `init` assigns it, and any
/// thread may load it.
final class WeakActor: @unchecked Sendable {
  private(set) weak var actor: (any Actor)?

  /// The address that the actor has, or had.
  let address: UInt

  init(_ actor: any Actor) {
    self.actor = actor
    address = ObjectIdentifier(actor).address
  }
}
