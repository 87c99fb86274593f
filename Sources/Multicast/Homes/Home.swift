import Dispatch

/// Where clients and handlers are called.
enum Home: Sendable {
  /// In an actor, held weakly.
  case actor(WeakActor)

  case queue(MarkedQueue)

  /// In a task, one call after the other. Each awaiting client or handler has a lane of its own.
  case lane(PostOffice.LaneKey)
}

extension Home {
  /// Whether this thread runs in this home, in code written in `isolation`. False if that is unknown.
  func isCurrent(from isolation: (any Actor)?) -> Bool {
    switch self {
    case .actor(let reference): reference.actor?.isCurrent(from: isolation) ?? false
    case .queue(let queue): queue.isCurrent
    case .lane: false
    }
  }
}

/// A weak reference to an actor.
///
/// Unchecked, because a weak reference is a variable. Only `init` assigns it, and any thread may load it.
final class WeakActor: @unchecked Sendable {
  private(set) weak var actor: (any Actor)?

  init(_ actor: any Actor) {
    self.actor = actor
  }
}

/// A dispatch queue that knows whether it is the current one.
final class MarkedQueue: Sendable {
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
