import Dispatch

/// Where clients and handlers are called.
enum Home: Sendable {
  /// In an actor, which is not kept alive.
  case actor(WeakActor)

  /// On a dispatch queue.
  case queue(MarkedQueue)

  /// In a task, one call after the other: what awaits has a home of its own.
  case lane(PostOffice.LaneKey)
}

extension Home {
  /// Whether this thread is running in this home, in code that was written in `isolation`. False if
  /// that cannot be found out.
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
/// Unchecked, because a weak reference is a variable for the compiler. It is assigned in `init` alone,
/// and any thread may load it.
final class WeakActor: @unchecked Sendable {
  private(set) weak var actor: (any Actor)?

  init(_ actor: any Actor) {
    self.actor = actor
  }
}

/// A dispatch queue that can be asked whether it is the current one.
final class MarkedQueue: Sendable {
  let queue: DispatchQueue
  private let mark: DispatchSpecificKey<Bool>?

  init(_ queue: DispatchQueue) {
    self.queue = queue
    // A global queue takes no marks: Dispatch would stop the program.
    mark = queue.isGlobal ? nil : DispatchSpecificKey()
    if let mark { queue.setSpecific(key: mark, value: true) }
  }

  deinit {
    if let mark { queue.setSpecific(key: mark, value: nil) }
  }

  /// Whether the queue can be asked.
  var isKnown: Bool { mark != nil }

  /// Whether this thread runs on the queue, or on one that targets it. False for a global queue.
  var isCurrent: Bool { mark.flatMap { DispatchQueue.getSpecific(key: $0) } ?? false }
}

extension DispatchQueue {
  /// Whether this is the main queue. By its label: on some systems, each look at it makes another object.
  var isMain: Bool { label == DispatchQueue.main.label }

  var isGlobal: Bool { label.hasPrefix("com.apple.root.") }
}
