/// An event of a delivery, which a center passes to its `onDelivery`.
///
/// <!-- example: in Center -->
/// ```swift
/// let observed = MulticastCenter(
///   onDelivery: { event in print(event) })
/// ```
///
/// ```text
/// notify UserProtocol #1 began, at App/Store.swift:12:12
/// notify UserProtocol #1 called ProfileScreen, 21.3 µs
/// notify UserProtocol #1 called Badge, 3.0 µs
/// notify UserProtocol #1 ended, clients: 2, 31.8 µs
/// ```
///
/// A *pass* is a series of calls in one home, or on the thread that notifies or posts: it begins, calls each
/// client, and ends. A `notify` is one pass. A `post` is one pass on its thread, and one in each other home. The
/// events of one delivery share a ``delivery`` number, and the events of one pass a ``pass`` number. The events
/// of one pass come in order. A pass in another home may begin before its `left` event. A delivery that calls no
/// client, because none is registered, begins and ends, too. <doc:SeeingDeliveries> shows what to do with
/// events.
public struct DeliveryEvent: Sendable {
  /// The method that makes a delivery. A later version may add cases, so write a `default` in a `switch`.
  public enum Way: Hashable, Sendable {
    /// `notify`, with one call for each client. With `forEach:`, all events of one client count as one call.
    case notify

    /// `map`.
    case map

    /// `notify` or `map` with `awaiting:`.
    case awaiting

    /// `post` or `postOnMain`, to a protocol or a topic.
    case post
  }

  /// What happened. A later version may add cases, so write a `default` in a `switch`.
  public enum Phase: Sendable {
    /// A pass has begun. It may call no client.
    case began

    /// A client was called. The event contains its type and the duration of the call, until it returned if it
    /// awaits.
    ///
    /// For a topic, the type is that of the owner; for `messages(of:)`, that of the stream.
    case called(any Any.Type, nanoseconds: UInt64)

    /// `post` has left a letter for `clients` clients of the home `for`.
    ///
    /// `waiting` is the number of letters there at that moment; nil for `post(awaiting:)`.
    case left(for: String, clients: Int, waiting: Int?)

    /// A pass has ended. The event contains the number of clients that it called, and its duration.
    case ended(clients: Int, nanoseconds: UInt64)

    /// The delivery was refused and called no client.
    case refused
  }

  /// The method that makes the delivery.
  public let way: Way

  /// The call site of the `notify` or `post`.
  public let site: CallSite

  /// The number of the delivery, unique in its center.
  public let delivery: UInt64

  /// The number of the delivery that caused this one: it is of the same center, and was calling the listener
  /// that made this one. Nil if there is none.
  ///
  /// A task that a listener starts, or a block that it leaves on a queue, is not part of the call.
  public let cause: UInt64?

  /// The number of the pass, unique in its center.
  public internal(set) var pass: UInt64

  /// The home in which this pass calls clients: `MainActor`, another actor's type (`an actor` after that is
  /// deallocated), `queue` with its label, `task`, or `task in` an actor; nil for listeners without a home, which
  /// are called on the thread that notifies or posts, or, if a topic keeps its latest message, perhaps on another
  /// one. A text for people, which may change.
  public internal(set) var home: String?

  /// The nanoseconds that the calls of this pass have waited since `post`; nil if they did not wait.
  public internal(set) var waited: UInt64?

  /// What happened.
  public internal(set) var phase: Phase

  /// Whether this event ends a delivery that no listener hears: it has called none, and left no letter.
  public internal(set) var isUnheard = false

  /// When it happened, by ``Clock``. The call or the pass that this event ends began as many nanoseconds earlier as it says.
  package internal(set) var time: UInt64

  /// Whether the pass handles a letter. Its clients were counted when the letter was left.
  package internal(set) var isOfLetter = false

  /// Whether a task makes the calls of this pass, which may change threads.
  package internal(set) var isInTask = false

  /// The number of listeners without a home for which this pass has left a letter so far. That is not an event of its own.
  package internal(set) var leftForPostingThread = 0

  let subject: DeliverySubject

  /// The name of the listener protocol or the topic.
  public var key: String { subject.description }

  init(
    _ way: Way, _ subject: DeliverySubject, from site: CallSite, delivery: UInt64, cause: UInt64?
  ) {
    (self.way, self.subject, self.site) = (way, subject, site)
    (self.delivery, self.cause) = (delivery, cause)
    (pass, home, waited, phase, time) = (0, nil, nil, .began, 0)
  }
}

// MARK: - In words

extension DeliveryEvent: CustomStringConvertible {
  /// The event in one line.
  public var description: String {
    let inHome = home.map { ", \($0)" } ?? ""
    let wait = waited.map { ", waited \(Self.text($0))" } ?? ""
    let news =
      switch phase {
      case .began: "began, at \(site)\(inHome)\(wait)"
      case .called(let client, let time): "called \(client), \(Self.text(time))\(inHome)\(wait)"
      case .left(let home, let clients, _): "left for \(home), clients: \(clients)"
      case .ended(let clients, let time): "ended, clients: \(clients), \(Self.text(time))\(inHome)"
      case .refused: "refused, at \(site)"
      }
    return "\(way) \(key) #\(delivery) \(news)".printable
  }

  /// The text of a number of nanoseconds, in the unit that suits it: `999 ns`, `21.5 µs`, `3.0 ms`, `12.1 s`.
  static func text(_ nanoseconds: UInt64) -> String {
    // Computes with whole numbers, because the functions that round fractions are in the C library, whose module has another
    // name on each system.
    let units: [(size: UInt64, name: String)] = [
      (1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"),
    ]
    guard let unit = units.first(where: { $0.size <= nanoseconds }) else {
      return "\(nanoseconds) ns"
    }
    let tenths = (nanoseconds + unit.size / 20) / (unit.size / 10)
    return "\(tenths / 10).\(tenths % 10) \(unit.name)"
  }
}

// MARK: - For recorders

extension DeliveryEvent {
  /// Whether this is an event of a delivery to the given listener protocol.
  package func isDelivery(to listener: any Any.Type) -> Bool {
    if case .listener(let type) = subject { type == listener } else { false }
  }
}
