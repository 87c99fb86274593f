/// An event of a delivery, which a center passes to its `onDelivery`.
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
/// A delivery on this thread is one *pass*: it begins, calls each client, and ends. `post` makes
/// another pass in each other home. Its events share a ``delivery`` number, and the events of one
/// pass a ``pass`` number. The events of one pass come in order. A pass in another home may begin
/// before its `left` event. A delivery to an empty list reports nothing.
public struct DeliveryEvent: Sendable {
  /// The method that delivers.
  public enum Way: Hashable, Sendable {
    /// `notify`, with one call for each client.
    case notify

    /// `notify` with `forEach:`. All events of one client count as one call.
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

    /// A client was called: its type, and the duration of the call, until it returns if it awaits.
    ///
    /// For a topic, the type is that of the owner; for `messages(of:)`, that of the stream.
    case called(any Any.Type, Duration)

    /// `post` has left its calls of this number of clients for a home, or for tasks.
    case left(for: Home, clients: Int)

    /// A pass has ended: the number of clients that it called, and its duration.
    case ended(clients: Int, Duration)

    /// The delivery was refused and called nobody.
    case refused
  }

  /// A home other than the thread that posts.
  public struct Home: Sendable {
    enum Kind: Sendable {
      /// An actor of this type; nil for one that was deallocated.
      case actor((any Any.Type)?)

      /// A dispatch queue with this label.
      case queue(String)

      case task
    }

    let kind: Kind

    /// The number of letters in the home, after one was left there; nil in events of another kind.
    public let waitingLetters: Int?

    init(_ kind: Kind, waiting: Int? = nil) {
      self.kind = kind
      waitingLetters = waiting
    }
  }

  /// The method that delivers.
  public let way: Way

  /// The place in the source that notified or posted.
  public let site: CallSite

  /// The number of the delivery, unique in its center.
  public let delivery: UInt64

  /// The number of the pass, unique in its center.
  public let pass: UInt64

  /// The home in which this pass calls clients; nil on the thread that notified or posted.
  public let home: Home?

  /// How long the calls of this pass have waited since `post`; nil if they did not wait.
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
    let wait = waited.map { ", waited \($0)" } ?? ""
    let news =
      switch phase {
      case .began: "began, at \(site)\(place)\(wait)"
      case .called(let client, let duration):
        "called \(client), \(duration)\(place)\(wait)"
      case .left(let home, let clients): "left for \(home), clients: \(clients)"
      case .ended(let clients, let duration):
        "ended, clients: \(clients), \(duration)\(place)"
      case .refused: "refused, at \(site)"
      }
    return "\(way) \(key) #\(delivery) \(news)".printable
  }
}

extension DeliveryEvent.Home: CustomStringConvertible {
  /// The home as text: `MainActor`, another actor's type, `queue "label"`, or `task` for calls that await.
  public var description: String {
    switch kind {
    case .actor(let type): type.map { "\($0)" } ?? "an actor"
    case .queue(let label): "queue \(String(reflecting: label))"
    case .task: "task"
    }
  }

  /// Whether this is the main actor.
  public var isMainActor: Bool {
    if case .actor(let type?) = kind { type == MainActor.self } else { false }
  }
}

// MARK: - For recorders

extension DeliveryEvent {
  /// Whether it is of a delivery to a listener protocol.
  package func isDelivery(to listener: any Any.Type) -> Bool {
    if case .listener(let type) = subject { type == listener } else { false }
  }
}
