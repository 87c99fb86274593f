/// Something that happened in a delivery: what a center tells its `onDelivery`.
///
/// <!-- example: in Center -->
/// ```swift
/// let observed = MulticastCenter(onDelivery: { event in print(event) })
/// ```
///
/// ```text
/// notify UserProtocol #1 began, at App/AccountStore.swift:12:12
/// notify UserProtocol #1 called ProfileScreen, 21.3 µs
/// notify UserProtocol #1 called Badge, 3.0 µs
/// notify UserProtocol #1 ended, clients: 2, 31.8 µs
/// ```
///
/// A delivery that calls everybody here is one *pass*: it began, called each client, and ended. A
/// post that leaves a letter for a home has another pass there. All of its events have the same
/// ``delivery`` number, and those of one pass the same ``pass`` number. The events of one pass come
/// in their order, on the threads that deliver. A letter may be handled before the event that tells
/// that it was left. Nothing is told of a delivery that finds its list empty.
///
/// An event holds no strings: ``key`` and ``description`` make theirs each time they are asked.
public struct DeliveryEvent: Sendable {
  /// The method that delivers.
  public enum Way: Hashable, Sendable {
    /// `notify`, with one call for each client.
    case notify

    /// `notify` with `forEach:`. The events of one client count as one call.
    case forEach

    /// `map`.
    case map

    /// `notify` with `awaiting:`.
    case awaiting

    /// `post` and `postAndWait`, to a protocol or a topic.
    case post
  }

  /// What happened.
  public enum Phase: Sendable {
    /// A pass is about to call its first client.
    case began

    /// A client was called: its type, and how long the call took.
    ///
    /// A call that awaits takes until it has returned. For a topic, the type is that of the owner;
    /// for `messages(of:)`, it is that of the stream.
    case called(any Any.Type, Duration)

    /// A letter was left for so many clients that live in a home, or that await.
    case left(for: Home, clients: Int)

    /// A pass has ended: how many clients it called, and how long it took.
    case ended(clients: Int, Duration)

    /// The delivery was refused, and called nobody: a notify that was a loop, or a post that recurred
    /// too often.
    case refused
  }

  /// Where a letter is handled.
  public struct Home: Sendable {
    let home: Multicast.Home
  }

  /// The method that delivers.
  public let way: Way

  /// Where in the source this was notified or posted.
  public let site: CallSite

  /// A number that all events of a delivery share, wherever its clients live. It is unlike that of
  /// every other delivery of the center.
  public let delivery: UInt64

  /// A number that all events of a pass share, unlike that of every other pass of the center.
  public let pass: UInt64

  /// The home whose letter is being handled. Nil where this was notified or posted.
  public let home: Home?

  /// How long the post had waited when this pass began. Nil if it was delivered as it was made.
  public let waited: Duration?

  /// What happened.
  public let phase: Phase

  let subject: DeliverySubject

  /// The name of the listener protocol or the topic.
  public var key: String { subject.description }
}

// MARK: - In words

extension DeliveryEvent: CustomStringConvertible {
  /// The event in one line.
  public var description: String {
    let place = home.map { ", \($0)" } ?? ""
    let wait = waited.map { ", waited \($0.brief)" } ?? ""
    let news =
      switch phase {
      case .began: "began, at \(site)\(place)\(wait)"
      case .called(let client, let duration):
        "called \(client), \(duration.brief)\(place)\(wait)"
      case .left(let home, let clients): "left for \(home), clients: \(clients)"
      case .ended(let clients, let duration):
        "ended, clients: \(clients), \(duration.brief)\(place)"
      case .refused: "refused, at \(site)"
      }
    return "\(way) \(key) #\(delivery) \(news)".printable
  }
}

extension DeliveryEvent.Home: CustomStringConvertible {
  /// The home in words: `MainActor`, another actor's type, `queue "label"`, or `task` for calls that
  /// await.
  public var description: String {
    switch home {
    case .actor(let reference): reference.actor.map { "\(type(of: $0))" } ?? "an actor"
    case .queue(let queue): "queue \(String(reflecting: queue.queue.label))"
    case .lane: "task"
    }
  }

  /// Whether this is the main actor.
  public var isMainActor: Bool {
    if case .actor(let reference) = home { reference.actor === MainActor.shared } else { false }
  }
}

extension Duration {
  /// The duration in the unit that suits it: `999.0 ns`, `21.5 µs`, `3.0 ms`, `12.1 s`.
  fileprivate var brief: String {
    let (unit, name): (Duration, String) =
      switch self {
      case .seconds(1)...: (.seconds(1), "s")
      case .milliseconds(1)...: (.milliseconds(1), "ms")
      case .microseconds(1)...: (.microseconds(1), "µs")
      default: (.nanoseconds(1), "ns")
      }
    return "\((self / unit * 10).rounded() / 10) \(name)"
  }
}
