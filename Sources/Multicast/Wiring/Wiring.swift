/// The listeners of a center at one moment, as a value to print, draw and compare.
///
/// <!-- example: in Center -->
/// ```swift
/// print(center.wiring)
/// ```
///
/// ```text
/// MulticastCenter
/// ├─ UserProtocol         4 clients
/// │  ├─ ProfileScreen     MainActor
/// │  ├─ Badge             MainActor       × 2
/// │  └─ AuditLog          posting thread
/// └─ Topic<Mail>("mail")  1 observer
///    └─ Inbox             MainActor
/// ```
///
/// A wiring shows neither senders nor the relays of `MulticastFoundation`. Its forwards are observers. Names
/// include their modules only where two types would otherwise share a name. A wiring keeps no client alive.
public struct Wiring: Hashable, Sendable {
  /// The listener protocols in the order of their first uses, such as an `add`. A protocol without
  /// clients stays.
  public let protocols: [ListenerProtocol]

  /// The topics with observers, by the first observation of their message type, then by name.
  public let topics: [ObservedTopic]

  /// The homes in which calls wait, by their first clients. A home that never comes to them stays here.
  public let waiting: [Backlog]
}

// MARK: - What waits

extension Wiring {
  /// The calls that wait in a home.
  public struct Backlog: Hashable, Sendable {
    /// The home.
    public let isolation: Isolation

    /// The number of letters: of what was posted there and is not handled.
    public let letters: Int

    /// The time since the first of them was posted. Nil if the center has neither `onDelivery` nor a carried
    /// value, because times are not measured then.
    public let time: DeliveryEvent.Duration?
  }
}

// MARK: - Protocols

extension Wiring {
  /// A listener protocol and its clients.
  public struct ListenerProtocol: Hashable, Sendable {
    /// The name of the protocol.
    public let name: String

    /// The live clients, in the order of the calls.
    public let clients: [ClientGroup]

    /// The number of live clients.
    public var count: Int { clients.reduce(0) { $0 + $1.count } }
  }

  /// Clients of one type and home that are called in succession.
  public struct ClientGroup: Hashable, Sendable {
    /// The name of the clients' type.
    public let type: String

    /// The place where `post` calls the clients: their home, or the posting thread.
    public let isolation: Isolation

    /// The number of clients, at least 1.
    public let count: Int
  }
}

// MARK: - Topics

extension Wiring {
  /// A topic and its observers.
  public struct ObservedTopic: Hashable, Sendable {
    /// The name of the topic; empty for the default topic.
    public let name: String

    /// Whether the topic keeps its latest message.
    public let keepsLatest: Bool

    /// The name of the message type.
    public let message: String

    /// The observers with live owners, in the order of the calls.
    public let observers: [ObserverGroup]

    /// The number of observers with live owners.
    public var count: Int { observers.reduce(0) { $0 + $1.count } }
  }

  /// Equal observers that are called in succession.
  public struct ObserverGroup: Hashable, Sendable {
    /// The name of the owners' type.
    public let owner: String

    /// The id of the observation as text; nil if it has none.
    public let id: String?

    /// The place where the handlers run.
    public let isolation: Isolation

    /// The number of observers, at least 1.
    public let count: Int
  }

  /// The place where a client is called, or a topic's handler runs.
  public enum Isolation: Hashable, Sendable {
    /// The posting thread.
    case postingThread

    /// An actor of this type, such as `MainActor`.
    case actor(String)

    /// A dispatch queue with this label.
    case queue(String)

    /// A task, in an actor of this type if the handler belongs to one.
    case task(actor: String?)
  }
}
