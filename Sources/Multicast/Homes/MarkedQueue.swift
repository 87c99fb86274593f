import Dispatch
import MulticastPlatform

/// A dispatch queue that knows whether it is the current one.
final class MarkedQueue: Sendable {
  /// The main queue. A block there runs in the main actor, even if a thread other than the main one serves the queue.
  static let main = MarkedQueue(.main)

  let queue: DispatchQueue
  let address: UInt

  /// The key of a value that only this queue has; nil for a global queue, which cannot be marked.
  let mark: DispatchSpecificKey<Bool>?

  init(_ queue: DispatchQueue) {
    self.queue = queue
    address = queue.address
    // Dispatch stops the program if it is asked to mark a global queue.
    mark = queue.isGlobal ? nil : DispatchSpecificKey()
    if let mark { queue.setSpecific(key: mark, value: true) }
  }

  deinit {
    if let mark { queue.setSpecific(key: mark, value: nil) }
  }

  /// Whether this thread runs on the queue, or on a queue that targets it. Unknown for a global queue.
  @inline(__always)
  var presence: Presence {
    guard let mark else { return .unknown }
    return unsafe multicast_has_specific(Unmanaged.passUnretained(mark).toOpaque())
      ? .here : .elsewhere
  }
}

extension DispatchQueue {
  private static let globalAddresses = [
    DispatchQoS.QoSClass.userInteractive, .userInitiated, .default, .utility, .background,
  ].map { qos in global(qos: qos).address }

  /// The queue's address.
  ///
  /// Without Objective-C, a `DispatchQueue` is a Swift object around the queue, and one queue may have several of them. The address
  /// of the queue is their only stored property, behind the two words with which a Swift object begins.
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
