#if canImport(Dispatch) && !os(WASI)
  import Dispatch
#endif

/// Where clients and handlers are called.
enum Place: Sendable {
  /// The main actor, and the main queue.
  case mainActor

  /// Another actor, held weakly.
  case actor(WeakActor)

  case queue(MarkedQueue)

  /// A task, for one call after the other of a client with this identity, or of an awaited handler, which runs in
  /// an actor of this type.
  case task(client: UInt?, in: TypeIdentity? = nil)

  /// The posting thread, for one call after the other of a handler without another home.
  case postingThread
}

extension Place {
  /// Whether this thread runs in this home, in code written in the actor `isolation`. False if that is unknown.
  ///
  /// A custom executor's code may run here, so no lock is held.
  func isCurrent(from isolation: ObjectIdentifier?) -> Bool {
    switch self {
    case .mainActor:
      MainActor.shared.isCurrent(from: isolation) || MarkedQueue.main.isCurrent
    case .actor(let reference): reference.actor?.isCurrent(from: isolation) ?? false
    case .queue(let queue): queue.isCurrent
    case .task: false
    case .postingThread: true
    }
  }

  /// The home of the objects that an office finds by identity. `object` is alive.
  func isPlace(of object: AnyObject) -> Bool {
    switch self {
    case .actor(let reference): reference.actor === object
    case .queue(let queue): queue.queue === object
    case .mainActor, .task, .postingThread: false
    }
  }
}

/// A weak reference to an actor.
///
/// Unchecked, because a weak reference is a variable before Swift 6.3, whose `weak let` needs no promise. Only `init`
/// assigns it, and any thread may load it.
final class WeakActor: @unchecked Sendable {
  private(set) weak var actor: (any Actor)?

  init(_ actor: any Actor) {
    self.actor = actor
  }
}

/// A dispatch queue that knows whether it is the current one.
final class MarkedQueue: Sendable {
  /// The main queue. A block there runs in the main actor, also where another thread serves the queue.
  static let main = MarkedQueue(.main)

  let queue: DispatchQueue
  private let mark: DispatchSpecificKey<Bool>?

  init(_ queue: DispatchQueue) {
    self.queue = queue
    // Dispatch stops the program if a global queue is marked.
    mark = queue.isGlobal ? nil : DispatchSpecificKey()
    if let mark { queue.setSpecific(key: mark, value: true) }
  }

  deinit {
    if let mark { queue.setSpecific(key: mark, value: nil) }
  }

  var isKnown: Bool { mark != nil }

  /// Whether this thread runs on the queue, or on one that targets it. False for a global queue.
  var isCurrent: Bool { mark.flatMap { DispatchQueue.getSpecific(key: $0) } ?? false }
}

extension DispatchQueue {
  /// Whether this is the main queue. Compares labels, because some systems return another object each time.
  var isMain: Bool { label == DispatchQueue.main.label }

  var isGlobal: Bool { label.hasPrefix("com.apple.root.") }
}
