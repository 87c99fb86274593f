/// The listeners of a center at one moment, as a value to print, draw and compare.
///
/// <!-- example: in Center -->
/// ```swift
/// print(center.wiring)
/// ```
///
/// ```text
/// MulticastCenter
///   UserProtocol: 4 clients
///     ProfileScreen, MainActor
///     Badge, MainActor, × 2
///     AuditLog, posting thread
///   Topic<Mail>("mail"): 1 observer
///     Inbox, MainActor
/// ```
///
/// Each line names the home. `posting thread` stands for none: a `post` calls such a client on its own thread.
///
/// A wiring shows neither senders nor the relays of `MulticastFoundation`. Its forwards are observers. Types
/// are named without their modules. A wiring keeps no client alive.
///
/// In a debug build, the place of `observe` follows in an observer's line. An owner that should have ended and is
/// still there is kept by somebody, perhaps by the handler itself.
public struct Wiring: Hashable, Sendable {
  /// The listener protocols in the order of their first uses, such as an `add`. A protocol without
  /// clients stays.
  public let protocols: [List]

  /// The topics with observers, by the first observation of their message type, then by name.
  public let topics: [List]

  /// The homes in which letters wait, by name. A letter is what a `post` has left there for its listeners, and waits even if
  /// these are removed meanwhile. A blocked home stays here.
  public let waiting: [Backlog]

  /// A listener protocol and its clients, or a topic and its observers.
  public struct List: Hashable, Sendable {
    /// The name of the protocol, or the topic as source code: `Topic<UserLogin>("userLogin")`.
    public let name: String

    /// The live clients, or the observers with live owners, in the order of the calls. Those with another home than where
    /// the wiring was read stay until their home has noticed their end.
    public let listeners: [Group]

    /// The number of listeners.
    public var count: Int { listeners.reduce(0) { $0 + $1.count } }
  }

  /// Equal listeners that are called in succession.
  public struct Group: Hashable, Sendable {
    /// The name of the clients' or the owners' type.
    public let type: String

    /// The id of the observation as text; nil if it has none.
    public let id: String?

    /// The place where `post` calls them: `MainActor`, another actor's type, `queue label`, `task`, `task in` an actor's
    /// type, or `posting thread` for those without a home.
    public let home: String

    /// Where they observe the topic, in a debug build; nil in a release build, and for clients.
    public let site: CallSite?

    /// The number of listeners, at least 1.
    public internal(set) var count: Int
  }

  /// The calls that wait in a home, and those that it is making.
  public struct Backlog: Hashable, Sendable {
    /// The home.
    public let home: String

    /// The number of letters: of what was posted there and is not handled. A home takes several at once. They count until the
    /// last of them is handled.
    public let letters: Int

    /// The nanoseconds since the first of those that were not taken was posted. Nil if the center has neither `onDelivery` nor a carried
    /// value, because times are not measured then.
    public let nanoseconds: UInt64?
  }
}

extension Wiring.Group {
  /// What is shown beside the type.
  var details: [String] {
    [home] + (id.map { id in ["id " + (id.isEmpty ? "\"\"" : id)] } ?? [])
  }
}
