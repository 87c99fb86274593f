import Clients

/// A way to tell many clients something.
public protocol System: AnyObject, SendableMetatype {
  /// Registers clients, whose owner is somebody else.
  init(clients: [any Client])

  /// Sends this many events, each to all clients, and returns when the clients have been called.
  func send(_ events: Int)
}

/// A system as a row of a table.
public struct Contender: Sendable {
  /// The row's title.
  public let title: String

  /// Events are sent in multiples of this, for a number of clients.
  public let step: @Sendable (_ clients: Int) -> Int

  /// Makes the system, for clients whose owner is the caller.
  public let make: @Sendable (_ clients: [any Client]) -> any System

  init<Kind: System>(
    _ title: String, _ system: Kind.Type, step: @escaping @Sendable (Int) -> Int = { _ in 1 }
  ) {
    self.title = title
    self.step = step
    make = { Kind(clients: $0) }
  }
}

extension Contender {
  /// The limit.
  public static let strongLoop = Contender("Strong loop, class-bound", StrongBoundLoop.self)

  /// What is written by hand.
  public static let weakLoop = Contender("Hand-written weak loop", WeakLoop.self)

  /// What the others are compared with.
  public static let multicast = Contender("Multicast notify, class-bound", MulticastBound.self)

  /// The same for a protocol that any type may conform to.
  public static let multicastOpaque = Contender("Multicast notify, opaque", MulticastOpaque.self)

  /// A list without a center around it.
  public static let delegate = Contender(
    "MulticastDelegate notify, class-bound", MulticastAlone.self)

  /// Clients that are called on the thread that posts.
  public static let post = Contender("Multicast post, class-bound", MulticastPost.self)

  /// Clients that are called on their queue, which is where the post is made.
  public static let postAtHome = Contender(
    "Multicast post, on a queue at home", MulticastPostAtHome.self)

  /// A closure for each client, as for users of notification centers.
  public static let topic = Contender("Multicast topic post", MulticastTopic.self)

  /// The rows of the comparison.
  public static let all = [
    strongLoop,
    Contender("Strong loop, opaque", StrongOpaqueLoop.self),
    weakLoop,
    multicast,
    multicastOpaque,
    Contender("Multicast notify, onDelivery", MulticastReported.self),
    Contender("Multicast forEach, class-bound", MulticastBoundBatch.self) { _ in Batch.size },
    Contender("Multicast forEach, opaque", MulticastOpaqueBatch.self) { _ in Batch.size },
    topic,
    Contender("Cast on each notify", CastingSystem.self),
    Contender("NotificationCenter", NotificationSystem.self),
    Contender("NotificationCenter, userInfo", NotificationUserInfoSystem.self),
    Contender("OpenCombine subject", SubjectSystem.self),
    Contender("AsyncStream fan-out", StreamSystem.self) { StreamSystem.burst(for: $0) },
  ]
}

enum Batch {
  /// How many events a batch takes.
  static let size = 100

  /// The numbers of the events, batch by batch.
  static func all(of events: Int) -> some Sequence<Range<Int>> {
    stride(from: 0, to: events, by: size).lazy.map { $0..<min($0 + size, events) }
  }
}
