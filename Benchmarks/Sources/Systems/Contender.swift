import Dispatch
import Multicast
import Synchronization

/// A way to send events to many clients, as a row of a table.
package struct Contender: Sendable {
  /// Sends the events 0, 1, 2 and so on to all clients.
  package typealias Send = (_ events: Int) -> Void

  package let title: String

  /// For a number of clients, events are sent in multiples of this number.
  package let step: @Sendable (_ clients: Int) -> Int

  /// Registers clients. The caller owns them.
  package let make: @Sendable (_ clients: [any Client]) -> Send

  package init(
    _ title: String, step: @escaping @Sendable (Int) -> Int = { _ in 1 },
    make: @escaping @Sendable ([any Client]) -> Send
  ) {
    (self.title, self.step, self.make) = (title, step, make)
  }
}

extension Topic where Message == Int {
  /// The topic of all benchmarks.
  package static var event: Self { Topic("event") }
}

extension Contender {
  /// The rows of the comparison that need no other package.
  package static let basic = [
    strongLoop,
    Contender("Strong loop, opaque") { clients in
      let loop = Loop<any OpaqueListener>(clients)
      return { events in for event in 0..<events { tell(loop, event) } }
    },
    weakLoop, multicast, multicastOpaque,
    row("Multicast notify, onDelivery", in: { MulticastCenter(onDelivery: { _ in }) }, add: bound) {
      center, events in
      for event in 0..<events { center.notify((any BoundListener).self) { $0.event(event) } }
    },
    row("Multicast forEach, class-bound", step: { _ in batch }, add: bound) { center, events in
      for batch in batches(of: events) {
        center[(any BoundListener).self].notify(forEach: batch) { $0.event($1) }
      }
    },
    row("Multicast forEach, opaque", step: { _ in batch }, add: opaque) { center, events in
      for batch in batches(of: events) {
        center[(any OpaqueListener).self].notify(forEach: batch) { $0.event($1) }
      }
    },
    topic,
    Contender("Cast on each notify") { clients in
      let center = CastingCenter()
      for client in clients { center.add(client) }
      return { events in
        for event in 0..<events { center.notify((any OpaqueListener).self) { $0.event(event) } }
      }
    },
  ]

  /// The limit: an array that keeps its clients alive.
  package static let strongLoop = Contender("Strong loop, class-bound") { clients in
    let loop = Loop<any BoundListener>(clients)
    return { events in for event in 0..<events { tell(loop, event) } }
  }

  /// What most projects write by hand. It has no lock, allows duplicates, and works only for protocols that are
  /// restricted to classes.
  package static let weakLoop = Contender("Hand-written weak loop") { clients in
    let loop = Loop(clients.map { WeakReference(listener: $0) })
    return { events in for event in 0..<events { tell(loop, event) } }
  }

  /// The row with which the others are compared.
  package static let multicast = row("Multicast notify, class-bound", add: bound) {
    center, events in
    for event in 0..<events { center.notify((any BoundListener).self) { $0.event(event) } }
  }

  package static let multicastOpaque = row("Multicast notify, opaque", add: opaque) {
    center, events in
    for event in 0..<events { center.notify((any OpaqueListener).self) { $0.event(event) } }
  }

  /// A closure for each client, as notification centers have it.
  package static let topic = row("Multicast topic post", add: { $1.observe(.event, in: $0) }) {
    center, events in
    for event in 0..<events { center.post(.event, event) }
  }

  /// A list without a center around it.
  package static let delegate = Contender("MulticastDelegate notify, class-bound") { clients in
    let delegate = MulticastDelegate<any BoundListener>()
    for client in clients { delegate.add(client) }
    return { events in for event in 0..<events { delegate.notify { $0.event(event) } } }
  }

  package static let post = row("Multicast post, class-bound", add: bound, send: postBound)

  /// Clients whose home is a queue.
  package static func post(on queue: DispatchQueue) -> Contender {
    row(
      "Multicast post", add: { $0.add($1, for: (any BoundListener).self, on: queue) },
      send: postBound)
  }

  /// Clients whose home is the queue on which the post is made.
  package static let postAtHome = Contender("Multicast post, on a queue at home") { clients in
    let queue = DispatchQueue(label: "home")
    let send = post(on: queue).make(clients)
    return { events in queue.sync { send(events) } }
  }

  /// An uncontended lock, for scale. Its clients are not called.
  package static let lock = Contender("A lock, for scale") { _ in
    let number = Mutex(0)
    return { times in for _ in 0..<times { number.withLock { $0 &+= 1 } } }
  }

  private typealias Add = @Sendable (MulticastCenter, any Client) -> Void
  private static let bound: Add = { $0.add($1, for: (any BoundListener).self) }
  private static let opaque: Add = { $0.add($1, for: (any OpaqueListener).self) }

  private typealias SendIn = @Sendable (MulticastCenter, _ events: Int) -> Void
  private static let postBound: SendIn = { center, events in
    for event in 0..<events { center.post((any BoundListener).self) { $0.event(event) } }
  }

  private static func row(
    _ title: String, step: @escaping @Sendable (Int) -> Int = { _ in 1 },
    in makeCenter: @escaping @Sendable () -> MulticastCenter = { MulticastCenter() },
    add: @escaping Add, send: @escaping SendIn
  ) -> Contender {
    Contender(title, step: step) { clients in
      let center = makeCenter()
      for client in clients { add(center, client) }
      return { events in send(center, events) }
    }
  }

  /// The number of events in a batch.
  package static let batch = 100

  private static func batches(of events: Int) -> some Sequence<Range<Int>> {
    stride(from: 0, to: events, by: batch).lazy.map { $0..<min($0 + batch, events) }
  }
}

/// An array in a class, as in a program.
private final class Loop<Element> {
  var elements: [Element]

  init(_ elements: [Element]) { self.elements = elements }
}

// Not inlined. Otherwise, the optimizer sees all events at once, and that nothing happens between them.
@inline(never)
private func tell(_ loop: Loop<any BoundListener>, _ event: Int) {
  for listener in loop.elements { listener.event(event) }
}

@inline(never)
private func tell(_ loop: Loop<any OpaqueListener>, _ event: Int) {
  for listener in loop.elements { listener.event(event) }
}

@inline(never)
private func tell(_ loop: Loop<WeakReference>, _ event: Int) {
  for reference in loop.elements { reference.listener?.event(event) }
}

private struct WeakReference {
  weak var listener: (any BoundListener)?
}

/// The design that this package replaces: a dictionary of weak references to objects, and a cast to the protocol for
/// each client and notify.
private final class CastingCenter: Sendable {
  private struct Reference {
    weak var object: (AnyObject & Sendable)?
  }

  private let references = Mutex<[ObjectIdentifier: Reference]>([:])

  func add(_ client: AnyObject & Sendable) {
    references.withLock { $0[ObjectIdentifier(client)] = Reference(object: client) }
  }

  func notify<Listener>(_ listener: Listener.Type, _ body: (Listener) -> Void) {
    for reference in references.withLock({ $0 }).values {
      if let client = reference.object as? Listener { body(client) }
    }
  }
}
