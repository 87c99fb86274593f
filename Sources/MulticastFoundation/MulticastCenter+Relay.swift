import Foundation
import Multicast

// MARK: - To clients

extension MulticastCenter {
  /// Has clients of a listener protocol called when a notification is posted.
  ///
  /// <!-- example: in Bridge -->
  /// ```swift
  /// center.relay(.powerStateDidChange, to: PowerProtocol.self) { $0.powerStateChanged() }
  /// ```
  ///
  /// The clients are called as by a post: each one at home, whatever thread the notification is
  /// posted on. Those without a home have been called when the notification's post returns. A body
  /// that names an actor, as in `{ @MainActor in $0.show() }`, is called there: a main-actor protocol
  /// needs that.
  ///
  /// The relay lasts until ``NotificationRelay/cancel()``, the center's end or the sender's,
  /// whichever comes first. It holds center and sender weakly, and keeps `source` and what `body`
  /// captures alive. It is no client, and `removeAll()` leaves it. Each call makes another relay:
  /// two of the same notification call the clients twice.
  ///
  /// A relay counts as the call site of what it delivers. A notification that a client posts while
  /// it is called by a post of this center follows that one. If it recurs more than 1,000 times, it is
  /// refused and reported.
  ///
  /// Foundation says nothing on the order of a notification's observers, and so of a relay among
  /// them. There is no relay by way of an `OperationQueue`: clients and handlers live on queues.
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
  ///   - body: Is called with each client, at the client's home.
  /// - Returns: A token to cancel with. It may be ignored. Nothing is ever dropped.
  /// - Complexity: Each notification of this name costs a few instructions, whoever its sender is;
  ///   one that is relayed, those of a post.
  @discardableResult
  public func relay<Listener>(
    _ name: Notification.Name, from source: NotificationCenter = .default,
    object sender: AnyObject? = nil, to listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) -> Void
  ) -> NotificationRelay {
    relay(name, from: source, object: sender) { center, notification in
      center.post(Listener.self, fileID: fileID, line: line, column: column, body)
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
  /// A notification stays on its thread, and the value goes to every home. A notification is mapped
  /// once, however many clients there are. One that cannot be mapped is dropped, and counted by
  /// ``NotificationRelay/dropped``. Everything else is as without a mapping.
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
  ///   - body: Is called with each client and the value, at the client's home.
  /// - Returns: A token to cancel with. It may be ignored.
  @discardableResult
  public func relay<Listener, Value: Sendable>(
    _ name: Notification.Name, from source: NotificationCenter = .default,
    object sender: AnyObject? = nil, to listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    map transform: @escaping @Sendable (Notification) -> Value?,
    _ body: @escaping @isolated(any) @Sendable (Listener, Value) -> Void
  ) -> NotificationRelay {
    let site = CallSite(fileID: fileID, line: line, column: column)
    return relay(name, from: source, object: sender) { center, notification in
      guard let value = transform(notification) else { return false }
      center.post(value, to: Listener.self, isolation: nil, from: site, body)
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
  /// A notification that cannot be mapped is dropped, and counted by ``NotificationRelay/dropped``.
  /// Everything else is as in a relay to clients. A loop that leads through a task which a handler
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
  /// Delivers a notification. Returns false if it was dropped.
  private typealias Delivery = @Sendable (MulticastCenter, Notification) -> Bool

  private func relay(
    _ name: Notification.Name, from source: NotificationCenter, object sender: AnyObject?,
    deliver: @escaping Delivery
  ) -> NotificationRelay {
    makeRelay(sender: sender, deliver) { observer in
      // The sender is not Foundation's to look after: see `receive`.
      let token = source.addObserver(forName: name, object: nil, queue: nil) {
        [status = observer.status, weak observer] notification in
        guard status.isActive else { return }
        observer?.receive { sender in
          notification.object.map { $0 as AnyObject === sender } ?? false
        } _: { deliver, center in
          deliver(center, notification)
        }
      }
      return { source.removeObserver(token) }
    }
  }

  /// - Parameter observe: Adds an observer to the `NotificationCenter`, and returns what removes it.
  func makeRelay<Delivery>(
    sender: AnyObject? = nil, _ delivery: Delivery,
    observe: (RelayObserver<Delivery>) -> () -> Void
  ) -> NotificationRelay {
    let observer = RelayObserver(sender: sender, to: self, delivery)
    attach(observer)
    observer.start { observe(observer) }
    return NotificationRelay(observer)
  }
}
