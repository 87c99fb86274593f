import Dispatch
import MulticastPlatform

/// Where clients and handlers are called.
enum Place: Sendable {
  /// The main actor, and the main queue.
  case mainActor

  /// Another actor, held weakly.
  case actor(WeakActor)

  case queue(MarkedQueue)

  /// A task, for one call after the other of a client with this identity, or of an awaited handler, which runs in
  /// this actor.
  case task(client: UInt?, in: WeakActor? = nil)

  /// The posting thread, for one call after the other of the handlers without another home of a topic that keeps its latest.
  case postingThread
}

extension Place {
  /// Whether this thread runs in this home, in code written in the actor `isolation`. False if that is unknown.
  ///
  /// A custom executor's code may run here, so no lock is held.
  func isCurrent(from isolation: ObjectIdentifier?) -> Bool {
    switch self {
    case .mainActor:
      // The queue's answer is cheaper, and usually yes where the main actor runs.
      MarkedQueue.main.isCurrent || MainActor.shared.isCurrent(from: isolation)
    case .actor(let reference): reference.actor?.isCurrent(from: isolation) ?? false
    case .queue(let queue): queue.isCurrent
    case .task: false
    case .postingThread: true
    }
  }

  /// Whether this thread runs in this home, or need not; nil if that is unknown. A home that has ended is everywhere.
  ///
  /// A custom executor's code may run here, so no lock is held.
  var isHere: Bool? {
    switch self {
    case .mainActor: MarkedQueue.main.isCurrent ? true : MainActor.shared.isCurrent
    case .actor(let reference), .task(_, let reference?):
      if let actor = reference.actor { actor.isCurrent } else { true }
    case .queue(let queue): queue.mark == nil ? nil : queue.isCurrent
    case .task, .postingThread: true
    }
  }

  /// Runs `body` in this home, or here if that has ended.
  func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    func run(in isolation: isolated (any Actor)?) -> Result { body() }
    guard case .queue(let queue) = self else { return await run(in: actor) }
    return await withCheckedContinuation { continuation in
      queue.queue.async { continuation.resume(returning: body()) }
    }
  }

  /// The actor that is this home, or in which its task runs; nil if there is none, or if it has ended.
  var actor: (any Actor)? {
    switch self {
    case .mainActor: MainActor.shared
    case .actor(let reference), .task(_, let reference?): reference.actor
    case .queue, .task, .postingThread: nil
    }
  }

  var isPostingThread: Bool {
    if case .postingThread = self { true } else { false }
  }

  /// Whether this is the home of the actor or the queue at an address, which is alive. The caller holds what is there, so
  /// nothing is released here last, and a lock may be held.
  func isAt(_ address: UInt) -> Bool {
    switch self {
    case .actor(let reference): reference.address == address && reference.actor != nil
    case .queue(let queue): queue.address == address
    case .mainActor, .task, .postingThread: false
    }
  }
}

extension Place: CustomStringConvertible {
  /// The place as reports and wirings name it.
  var description: String {
    switch self {
    case .mainActor: "MainActor"
    case .actor(let reference): reference.actor.map { "\(type(of: $0))" } ?? "an actor"
    case .queue(let queue): queue.queue.label.isEmpty ? "queue" : "queue \(queue.queue.label)"
    case .task(_, let reference): reference?.actor.map { "task in \(type(of: $0))" } ?? "task"
    case .postingThread: "posting thread"
    }
  }
}

/// A weak reference to an actor.
///
/// Unchecked, because a weak reference is a variable before Swift 6.3, whose `weak let` needs no promise. Only `init`
/// assigns it, and any thread may load it.
final class WeakActor: @unchecked Sendable {
  private(set) weak var actor: (any Actor)?

  /// The address that the actor has, or had.
  let address: UInt

  init(_ actor: any Actor) {
    self.actor = actor
    address = ObjectIdentifier(actor).address
  }
}

/// A dispatch queue that knows whether it is the current one.
final class MarkedQueue: Sendable {
  /// The main queue. A block there runs in the main actor, also where another thread serves the queue.
  static let main = MarkedQueue(.main)

  let queue: DispatchQueue
  let address: UInt

  /// The key of a value that the queue has, and no other; nil for a global queue.
  let mark: DispatchSpecificKey<Bool>?

  init(_ queue: DispatchQueue) {
    self.queue = queue
    address = queue.address
    // Dispatch stops the program if a global queue is marked.
    mark = queue.isGlobal ? nil : DispatchSpecificKey()
    if let mark { queue.setSpecific(key: mark, value: true) }
  }

  deinit {
    if let mark { queue.setSpecific(key: mark, value: nil) }
  }

  /// Whether this thread runs on the queue, or on one that targets it. False for a global queue.
  @inline(__always)
  var isCurrent: Bool {
    mark.map { unsafe multicast_has_specific(Unmanaged.passUnretained($0).toOpaque()) } ?? false
  }
}

extension DispatchQueue {
  private static let globalAddresses = [
    DispatchQoS.QoSClass.userInteractive, .userInitiated, .default, .utility, .background,
  ].map { qos in global(qos: qos).address }

  /// The queue's address. Where Objective-C is missing, a queue may have many objects, whose only property it is.
  var address: UInt {
    #if canImport(ObjectiveC)
      ObjectIdentifier(self).address
    #else
      unsafe Unmanaged.passUnretained(self).toOpaque()
        .load(fromByteOffset: 2 * MemoryLayout<UInt>.size, as: UInt.self)
    #endif
  }

  var isGlobal: Bool { Self.globalAddresses.contains(address) }
}
