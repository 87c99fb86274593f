/// Who listens to what in a center, at one moment.
///
/// A picture for people, and a value that tests can compare with another one:
///
/// <!-- example: in Center -->
/// ```swift
/// print(center.wiring)
/// ```
///
/// ```text
/// MulticastCenter
/// ├─ UserProtocol         4 clients
/// │  ├─ ProfileScreen
/// │  ├─ Badge             × 2
/// │  └─ AuditLog
/// └─ Topic<Mail>("mail")  1 observer
///    └─ Inbox             MainActor
/// ```
///
/// Types have their names without modules. Where two types of the picture would share a name, it is
/// the full one, so that different types never look the same.
///
/// What tells is not in it: neither those who notify and post, nor the relays of `MulticastFoundation`. Its
/// forwards are, as observers.
///
/// A wiring holds names and numbers alone. It keeps no client alive, and does not change afterwards.
public struct Wiring: Hashable, Sendable {
  /// The listener protocols whose ``MulticastCenter/subscript(_:)`` was ever used, by adding a client
  /// for instance, in the order of these first uses. One that has no clients any more stays.
  public let protocols: [ListenerProtocol]

  /// The topics that have observers, ordered by the first observation of their message type, and by
  /// name.
  public let topics: [ObservedTopic]
}

// MARK: - Protocols

extension Wiring {
  /// A listener protocol and its clients.
  public struct ListenerProtocol: Hashable, Sendable {
    /// The name of the protocol.
    public let name: String

    /// The clients that are alive, in the order in which they are called.
    public let clients: [ClientGroup]

    /// The number of clients that are alive.
    public var count: Int { clients.reduce(0) { $0 + $1.count } }
  }

  /// Clients of one type that are called one after the other.
  public struct ClientGroup: Hashable, Sendable {
    /// The name of the clients' type.
    public let type: String

    /// The number of clients, at least 1.
    public let count: Int
  }
}

// MARK: - Topics

extension Wiring {
  /// A topic and its observers.
  public struct ObservedTopic: Hashable, Sendable {
    /// The name of the topic; empty for the default topic of its message type.
    public let name: String

    /// Whether the topic keeps its last message.
    public let keepsLatest: Bool

    /// The name of the type of its messages.
    public let message: String

    /// The observers whose owners are alive, in the order in which they get a message.
    public let observers: [ObserverGroup]

    /// The number of observers whose owners are alive.
    public var count: Int { observers.reduce(0) { $0 + $1.count } }
  }

  /// Observers that are alike, and that get a message one after the other.
  public struct ObserverGroup: Hashable, Sendable {
    /// The name of the owners' type.
    public let owner: String

    /// The id that the owner observes under, as text; nil if it gave none.
    public let id: String?

    /// Where the handlers run.
    public let isolation: Isolation

    /// The number of observers, at least 1.
    public let count: Int
  }

  /// Where a topic's handler runs.
  public enum Isolation: Hashable, Sendable {
    /// Synchronously, on the thread that posts.
    case postingThread

    /// In an actor of this type, `MainActor` for instance.
    case actor(String)

    /// On a dispatch queue with this label.
    case queue(String)

    /// In a task, and there in an actor of this type if the handler, which awaits, belongs to one.
    case task(actor: String?)
  }
}
