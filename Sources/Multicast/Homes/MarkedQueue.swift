#if canImport(Dispatch)
  import Dispatch
  import MulticastPlatform

  /// A dispatch queue that knows whether it is the current one.
  ///
  /// The queue's mark is a value under its own address. All centers and delegates share it, because Dispatch searches the values
  /// of a queue one after the other. It stays until the queue ends.
  final class MarkedQueue: Sendable {
    /// The main queue. A block there runs in the main actor, even if a thread other than the main one serves the queue.
    static let main = MarkedQueue(.main)

    private let queue: DispatchQueue
    let address: UInt

    /// Whether the queue is a global one, which cannot be marked: Dispatch would stop the program.
    let isGlobal: Bool

    init(_ queue: DispatchQueue) {
      self.queue = queue
      address = queue.address
      isGlobal = queue.isGlobal
      if !isGlobal { multicast_mark_queue(address) }
    }

    var label: String { queue.label }

    /// Whether this thread runs on the queue, or on a queue that targets it. Unknown for a global queue.
    @inline(__always)
    var presence: Presence {
      isGlobal ? .unknown : multicast_is_on_queue(address) ? .here : .elsewhere
    }

    /// Runs `work` on the queue. A block, because the compiler would wrap another closure in one, which costs an allocation.
    @inline(__always)
    func async(_ work: @escaping @Sendable @convention(block) () -> Void) {
      queue.async(execute: work)
    }
  }

  extension DispatchQueue {
    private static let globalAddresses = [
      DispatchQoS.QoSClass.userInteractive, .userInitiated, .default, .utility, .background,
    ].map { qos in global(qos: qos).address }

    /// The queue's address.
    ///
    /// Without Objective-C, a `DispatchQueue` is a Swift object around the queue, and one queue may have several of them. The
    /// address of the queue is their only stored property, behind the two words with which a Swift object begins.
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
#else
  /// Stands for the queues of Dispatch on a system without it, such as WASI. There are none, so `on:` can only be nil.
  public enum DispatchQueue: Sendable {
    var address: UInt { switch self {} }
  }

  /// Stands for the marked queues. The one called `main` is never current, and no home has it.
  struct MarkedQueue: Sendable {
    static let main = MarkedQueue(address: 0)

    let address: UInt
    var label: String { "" }
    var presence: Presence { .elsewhere }

    private init(address: UInt) { self.address = address }
    init(_ queue: DispatchQueue) { address = queue.address }

    func async(_ work: @escaping @Sendable () -> Void) {}
  }
#endif
