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
///   Topic<Mail>("mail"): 1 handler
///     Inbox, MainActor
/// ```
///
/// Each line names the home. `posting thread` stands for no home: `post` calls such a listener on the thread
/// that posts.
///
/// A wiring shows neither senders nor the relays of `MulticastFoundation`. It shows the forwards as handlers.
/// It names types without their modules. It keeps no client alive.
///
/// In a debug build, a handler's line ends with the call site of its `observe`. If an owner that should be
/// gone is still there, something retains it, perhaps the handler itself.
public struct Wiring: Hashable, Sendable {
  /// The listener protocols in the order of their first uses, such as an `add`. A protocol without clients
  /// stays.
  public let protocols: [List]

  /// The topics with handlers, in the order in which their message types were first used, then by name.
  public let topics: [List]

  /// The homes in which posts are waiting, by name.
  ///
  /// A post that cannot call the clients of a home immediately leaves one *letter* there. It waits even if these clients are
  /// removed meanwhile. A home that is blocked stays in this list.
  public let waiting: [Backlog]

  /// A listener protocol and its clients, or a topic and its handlers.
  public struct List: Hashable, Sendable {
    /// The name of the protocol, or the topic as source code: `Topic<UserLogin>("userLogin")`.
    public let name: String

    /// The clients, or the handlers, that are alive, in the order of the calls.
    ///
    /// Those with another home than where the wiring was read stay until their home has noticed that they are
    /// deallocated.
    public let listeners: [Group]

    /// The number of listeners.
    public var count: Int { listeners.reduce(0) { $0 + $1.count } }
  }

  /// Equal listeners that are called in succession.
  public struct Group: Hashable, Sendable {
    /// The name of the clients' or the owners' type.
    public let type: String

    /// The id of the handler as text; nil if it has none.
    public let id: String?

    /// Where `post` calls them: `MainActor`, another actor's type (`an actor` after that is deallocated), `queue`
    /// with a label, `task`, `task in` an actor's type, or `posting thread` for those without a home.
    public let home: String

    /// The call site of `observe`, in a debug build; nil in a release build, and for clients.
    public let site: CallSite?

    /// The number of messages that a stream of `messages(of:)` held when it received the latest one; nil for
    /// other listeners.
    ///
    /// It is exact if the loop over the stream does not run. Otherwise the loop may have taken messages since.
    public let unread: Int?

    /// The number of messages that a stream of `messages(of:)` has dropped, because its `buffering:` limits
    /// what it keeps; nil for other listeners.
    public let dropped: Int?

    /// The number of listeners, at least 1.
    public internal(set) var count: Int
  }

  /// A home in which letters wait, with their number.
  public struct Backlog: Hashable, Sendable {
    /// The home.
    public let home: String

    /// The number of letters that the home has not finished.
    ///
    /// A home takes several letters together. They count until the last of them is handled.
    public let letters: Int

    /// The nanoseconds since the post of the first letter that the home has not taken.
    ///
    /// It is nil if the home has taken all its letters, or if the center has neither `onDelivery` nor a carried
    /// value, and so measures no times. `==` ignores it, because each snapshot has another one.
    public var nanoseconds: UInt64? { age.nanoseconds }

    let age: Age

    /// A time that makes no difference.
    struct Age: Hashable, Sendable {
      let nanoseconds: UInt64?

      static func == (_: Age, _: Age) -> Bool { true }

      func hash(into hasher: inout Hasher) {}
    }
  }
}

extension Wiring.Group {
  /// What a text and a drawing show beside the type: the home, the id, and the messages of a stream.
  var details: [String] {
    let id = id.map { id in "id " + (id.isEmpty ? "\"\"" : id) }
    let messages = [(unread, "unread"), (dropped, "dropped")].map { count, word in
      count.flatMap { $0 == 0 ? nil : "\($0) \(word)" }
    }
    return [home] + ([id] + messages).compactMap(\.self)
  }
}
