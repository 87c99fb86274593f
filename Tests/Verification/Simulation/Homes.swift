import Dispatch
import MulticastPlatform

// These replace declarations of Dispatch and of the runtime, because a module's own names hide imported ones.

/// A dispatch queue whose blocks run on simulated threads.
///
/// `@unchecked`, because only the thread that has the baton uses the variables.
public final class DispatchQueue: @unchecked Sendable {
  /// The main queue.
  public static let main = DispatchQueue(label: "com.apple.main-thread")

  /// The first property, because the library reads a queue's address here.
  private let lock = UnsafeMutablePointer<multicast_lock>.allocate(capacity: 1)
  let label: String
  let isConcurrent: Bool
  private let target: DispatchQueue?
  private var specifics: [UInt: Any] = [:]
  private var waiting: [@Sendable () -> Void] = []
  private var isRunning = false

  init(label: String, isConcurrent: Bool = false, target: DispatchQueue? = nil) {
    self.label = label
    self.isConcurrent = isConcurrent
    self.target = target
    lock.initialize(to: multicast_lock())
  }

  /// A queue that no program uses.
  static func global(qos: DispatchQoS.QoSClass) -> DispatchQueue {
    DispatchQueue(label: "com.apple.root", isConcurrent: true)
  }

  func async(execute work: @escaping @Sendable () -> Void) {
    if isConcurrent { return spawn { self.sync(execute: work) } }
    waiting.append(work)
    if isRunning { return }
    isRunning = true
    spawn {
      while !self.waiting.isEmpty { self.sync(execute: self.waiting.removeFirst()) }
      self.isRunning = false
    }
  }

  /// Runs a block on the queue. The thread leaves the queue that it is on.
  func sync(execute work: () -> Void) {
    if !isConcurrent { multicast_acquire((target ?? self).lock) }
    let outer = simulation_slot().pointee
    simulation_slot().pointee = Unmanaged.passUnretained(self).toOpaque()
    work()
    simulation_slot().pointee = outer
    if !isConcurrent { multicast_release((target ?? self).lock) }
  }

  func setSpecific<Value>(key: DispatchSpecificKey<Value>, value: Value?) {
    specifics[UInt(bitPattern: ObjectIdentifier(key))] = value
  }

  func getSpecific<Value>(key: DispatchSpecificKey<Value>) -> Value? {
    specifics[UInt(bitPattern: ObjectIdentifier(key))] as? Value
  }

  static func getSpecific<Value>(key: DispatchSpecificKey<Value>) -> Value? {
    let key = UInt(bitPattern: ObjectIdentifier(key))
    return current { $0.specifics[key] } as? Value
  }

  /// The first result that is not nil, for the current queue and the queues that it targets.
  fileprivate static func current<Result>(_ body: (DispatchQueue) -> Result?) -> Result? {
    var queue = simulation_slot().pointee.map {
      Unmanaged<DispatchQueue>.fromOpaque($0).takeUnretainedValue()
    }
    while let one = queue {
      if let result = body(one) { return result }
      queue = one.target
    }
    return nil
  }

  fileprivate func hasAddress(_ address: UInt) -> Bool { UInt(bitPattern: lock) == address }
}

// These two replace the library's functions of these names, which ask Dispatch.

@_cdecl("multicast_mark_queue") func markQueue(_ queue: UInt) {}

@_cdecl("multicast_is_on_queue") func isOnQueue(_ queue: UInt) -> Bool {
  DispatchQueue.current { $0.hasAddress(queue) ? true : nil } ?? false
}

final class DispatchSpecificKey<Value>: Sendable {}

/// Adds a simulated thread.
func spawn(_ body: @escaping @Sendable () -> Void) {
  final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
  simulation_spawn(
    { context in
      let body = Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
      body.run()
    }, Unmanaged.passRetained(Body(body)).toOpaque())
}

extension Task where Success == Never, Failure == Never {
  /// Replaces the runtime's function, which does not pass its job to the simulation.
  static func yield() async {
    await withCheckedContinuation { continuation in spawn { continuation.resume() } }
  }
}

/// The main actor's executor: the main queue.
final class SimulatedMain: SerialExecutor {
  private static let shared = SimulatedMain()

  static func begin() {
    let words = unsafeBitCast(shared.asUnownedSerialExecutor(), to: (UInt, UInt).self)
    simulation_take_tasks(words.0, words.1)
  }

  func isIsolatingCurrentContext() -> Bool? { MarkedQueue.main.presence == .here }

  func checkIsolated() {
    if MarkedQueue.main.presence != .here { simulation_fail("not in the main actor") }
  }

  func enqueue(_ job: UnownedJob) {
    DispatchQueue.main.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
