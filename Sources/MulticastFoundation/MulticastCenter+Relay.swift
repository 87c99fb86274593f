import Foundation
import Multicast

// MARK: - To clients

extension MulticastCenter {
  /// Has clients of a listener protocol called when a notification is posted.
  ///
  /// <!-- example: in Bridge -->
  /// ```swift
  /// center.relay(.powerStateDidChange, to: PowerProtocol.self) { client, _ in
  ///   client.powerStateChanged()
  /// }
  /// ```
  ///
  /// The clients are called as by a notify: synchronously, on the thread that posts, before the
  /// post returns. So a `@MainActor` protocol, or one whose clients were added inside an actor, is
  /// out of reach, and the compiler says so, or a debug build: relay to a topic, whose handlers run
  /// where they were written, and notify in there.
  ///
  /// The relay lasts until ``NotificationRelay/cancel()``, the center's end or the sender's,
  /// whichever comes first. It holds center and sender weakly, and keeps `source` and what `body`
  /// captures alive. It is no client, and `removeAll()` leaves it. Each call makes another relay:
  /// two of the same notification call the clients twice.
  ///
  /// A relay counts as the call site of what it delivers. A notification that is posted by a
  /// delivery of the same relay, directly or through a forward, is a loop: it is refused and
  /// reported, like any other.
  ///
  /// Foundation says nothing on the order of a notification's observers, and so of a relay among
  /// them. There is no relay by way of an `OperationQueue`: topics have handlers on queues.
  ///
  /// May be called from any thread.
  ///
  /// - Parameters:
  ///   - name: The notification's name.
  ///   - source: Where it is posted.
  ///   - sender: The object whose notifications are relayed; nil for those of all, and for those
  ///     that have none. It is held for an instant at each notification of this name, and may end
  ///     there. What it posts in its `deinit` is not relayed.
  ///   - listener: The listener protocol. Nobody need have been added for it.
  ///   - fileID: The file of the call site; leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Is called with each client and the notification, on any thread.
  /// - Returns: A token to cancel with. It may be ignored. Nothing is ever dropped.
  /// - Complexity: Each notification of this name costs a few instructions, whoever its sender is;
  ///   one that is relayed, those of a notify.
  @discardableResult
  public func relay<Listener>(
    _ name: Notification.Name, from source: NotificationCenter = .default,
    object sender: AnyObject? = nil, to listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @Sendable (Listener, Notification) -> Void
  ) -> NotificationRelay {
    relay(name, from: source, object: sender) { center, notification in
      center.notify(Listener.self, fileID: fileID, line: line, column: column) { client in
        body(client, notification)
      }
      return true
    }
  }

  /// Has clients of a listener protocol called with what a notification is mapped to.
  ///
  /// <!-- example: in Bridge -->
  /// ```swift
  /// center.relay(
  ///   .downloadDidProgress, to: DownloadProtocol.self,
  ///   map: { $0.userInfo?["fraction"] as? Double }
  /// ) { client, fraction in client.downloadDidProgress(fraction) }
  /// ```
  ///
  /// A notification is mapped once, however many clients there are. One that cannot be mapped is
  /// dropped, and counted by ``NotificationRelay/dropped``. Everything else is as without a
  /// mapping.
  ///
  /// - Parameters:
  ///   - name: The notification's name.
  ///   - source: Where it is posted.
  ///   - sender: The object whose notifications are relayed; nil for those of all, and for those
  ///     that have none.
  ///   - listener: The listener protocol. Nobody need have been added for it.
  ///   - fileID: The file of the call site; leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Is called with each notification, on the thread that posts; nil drops it.
  ///   - body: Is called with each client and the value, on the same thread.
  /// - Returns: A token to cancel with. It may be ignored.
  @discardableResult
  public func relay<Listener, Value>(
    _ name: Notification.Name, from source: NotificationCenter = .default,
    object sender: AnyObject? = nil, to listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    map transform: @escaping @Sendable (Notification) -> Value?,
    _ body: @escaping @Sendable (Listener, Value) -> Void
  ) -> NotificationRelay {
    relay(name, from: source, object: sender) { center, notification in
      guard let value = transform(notification) else { return false }
      center.notify(Listener.self, fileID: fileID, line: line, column: column) { client in
        body(client, value)
      }
      return true
    }
  }
}

// MARK: - To observers

extension MulticastCenter {
  /// Posts a message to a topic when a notification is posted.
  ///
  /// <!-- example: in Bridge -->
  /// ```swift
  /// center.relay(.connectionDidClose, object: connection, to: Topic<CloseCode>()) { notification in
  ///   (notification.userInfo?["code"] as? Int).map(CloseCode.init)
  /// }
  /// ```
  ///
  /// Handlers run as after a post: at home. Those without a home have run when the notification's
  /// post returns. So have those of the main actor, if the notification is posted inside of it (in
  /// a statically linked program on Linux they run a little later). The message is left for all
  /// others. A notification that is posted while a client or a handler is being called by a post of
  /// this center follows that one.
  ///
  /// This is the way to what belongs to the main actor, a `@MainActor` protocol's clients for
  /// instance:
  ///
  /// <!-- example: in BridgeObserver -->
  /// ```swift
  /// center.observe(.powerState, owner: self) { owner, state in
  ///   owner.center.notify(ScreenProtocol.self) { $0.show(state) }
  /// }
  /// ```
  ///
  /// A notification that cannot be mapped is dropped, and counted by ``NotificationRelay/dropped``.
  /// Everything else is as in a relay to clients, but for loops: a post may recur, and after 1,000
  /// times the next one is refused and reported. A loop that leads through a task which a handler
  /// starts is not found.
  ///
  /// - Parameters:
  ///   - name: The notification's name.
  ///   - source: Where it is posted.
  ///   - sender: The object whose notifications are relayed; nil for those of all, and for those
  ///     that have none.
  ///   - topic: The topic. Nobody need have observed it.
  ///   - fileID: The file of the call site; leave it to its default, or pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Is called with each notification, on the thread that posts; nil drops it.
  /// - Returns: A token to cancel with. It may be ignored.
  @discardableResult
  public func relay<Message>(
    _ name: Notification.Name, from source: NotificationCenter = .default,
    object sender: AnyObject? = nil, to topic: Topic<Message>,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ transform: @escaping @Sendable (Notification) -> Message?
  ) -> NotificationRelay {
    relay(name, from: source, object: sender) { center, notification in
      guard let message = transform(notification) else { return false }
      center.post(topic, message, fileID: fileID, line: line, column: column)
      return true
    }
  }
}

// MARK: - Making relays

extension MulticastCenter {
  private func relay(
    _ name: Notification.Name, from source: NotificationCenter, object sender: AnyObject?,
    deliver: @escaping RelayObserver.Delivery
  ) -> NotificationRelay {
    let observer = RelayObserver(from: source, sender: sender, to: self, deliver: deliver)
    attach(observer)
    observer.start(name)
    return NotificationRelay(observer)
  }
}
