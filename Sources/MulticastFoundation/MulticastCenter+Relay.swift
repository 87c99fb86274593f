import Foundation
import Multicast

// MARK: - To clients

extension MulticastCenter {
  /// Calls the clients of a listener protocol whenever a notification is posted.
  ///
  /// <!-- example: in Bridge -->
  /// ```swift
  /// center.relay(
  ///   .powerStateDidChange, to: PowerProtocol.self
  /// ) { $0.powerStateChanged() }
  /// ```
  ///
  /// The relay posts, so each client is called in its home, whichever thread posts the notification. A
  /// main-actor protocol needs a body that names the actor: `{ @MainActor in $0.show() }`. The protocol does not
  /// have to have clients.
  ///
  /// The relay ends with ``NotificationRelay/cancel()``, with the center, or with the sender. It holds center
  /// and sender weakly, and keeps `source` and `body` alive. If `body` captures the center or the sender, the
  /// relay never ends by itself, and keeps the captured object alive. It is not a client, and `removeAll()` does
  /// not remove it. Two relays of one notification call the clients twice.
  ///
  /// With a sender, only its notifications are relayed, except those from its `deinit`. The relay retains the
  /// sender for an instant at each notification of this name. After the sender is deallocated, the next one
  /// releases `body`.
  ///
  /// The call site of its posts is that of the relay. A notification that a client posts while `post` is
  /// calling it is relayed afterwards. After 1,000 recurring posts, the next is refused and reported.
  /// Foundation does not order the observers of a notification, including relays.
  ///
  /// You may call this on any thread.
  ///
  /// - Parameters:
  ///   - name: The name of the notification.
  ///   - source: The `NotificationCenter` that posts the notification.
  ///   - sender: The object whose notifications are relayed; nil for all.
  ///   - listener: The protocol.
  ///   - fileID: The file of the call site, for reports. In a wrapper, pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Receives each client. It names no actor, or the main actor; a body of another actor stops the
  ///     program.
  /// - Returns: A token that can end the relay. You can ignore it.
  /// - Complexity: A few instructions for each notification of this name, and a `post` for each relayed one.
  @discardableResult
  public func relay<Listener>(
    _ name: Notification.Name, from source: NotificationCenter = .default,
    object sender: AnyObject? = nil, to listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: @escaping @isolated(any) @Sendable (Listener) -> Void
  ) -> NotificationRelay {
    let call = IsolatedCall(function: body).callable
    let body = RelayBody<Listener, Void>(body.isolation, fileID, line, column) { client, _ in
      call(client)
    }
    return relay(name, from: source, object: sender) { center, notification in
      body.post((), to: center)
      return true
    }
  }

  /// Calls the clients of a listener protocol with a value that `map:` takes from a notification.
  ///
  /// <!-- example: in Bridge -->
  /// ```swift
  /// center.relay(
  ///   .downloadDidProgress, to: DownloadProtocol.self,
  ///   map: { $0.userInfo?["fraction"] as? Double }
  /// ) { client, fraction in
  ///   client.downloadDidProgress(fraction)
  /// }
  /// ```
  ///
  /// The notification stays on its thread, where `transform` is called once. If it returns nil, the relay
  /// drops the notification, and ``NotificationRelay/dropped`` counts it. Otherwise it does the same as
  /// ``relay(_:from:object:to:fileID:line:column:_:)-(_,_,_,Listener.Type,_,_,_,_)``.
  ///
  /// - Parameters:
  ///   - name: The name of the notification.
  ///   - source: The `NotificationCenter` that posts the notification.
  ///   - sender: The object whose notifications are relayed; nil for all.
  ///   - listener: The protocol.
  ///   - fileID: The file of the call site, for reports. In a wrapper, pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Returns the value for a notification; nil to drop it.
  ///   - body: Receives each client with the value. It names no actor, or the main actor; a body of another
  ///     actor stops the program.
  /// - Returns: A token that can end the relay. You can ignore it.
  /// - Complexity: A few instructions for each notification of this name, and a `post` for each relayed one.
  @discardableResult
  public func relay<Listener, Value: Sendable>(
    _ name: Notification.Name, from source: NotificationCenter = .default,
    object sender: AnyObject? = nil, to listener: Listener.Type,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    map transform: @escaping @Sendable (Notification) -> Value?,
    _ body: @escaping @isolated(any) @Sendable (Listener, Value) -> Void
  ) -> NotificationRelay {
    let body = RelayBody(
      body.isolation, fileID, line, column, IsolatedBody(function: body).callable)
    return relay(name, from: source, object: sender) { center, notification in
      guard let value = transform(notification) else { return false }
      body.post(value, to: center)
      return true
    }
  }
}

// MARK: - To a topic

extension MulticastCenter {
  /// Posts a message to a topic whenever a notification is posted.
  ///
  /// <!-- example: in Bridge -->
  /// ```swift
  /// center.relay(
  ///   .connectionDidClose, object: connection,
  ///   to: Topic<CloseCode>()
  /// ) { notification in
  ///   (notification.userInfo?["code"] as? Int)
  ///     .map(CloseCode.init)
  /// }
  /// ```
  ///
  /// The notification stays on its thread, where `transform` is called. If it returns nil, the relay drops
  /// the notification, and ``NotificationRelay/dropped`` counts it. Otherwise it does the same as
  /// ``relay(_:from:object:to:fileID:line:column:_:)-(_,_,_,Listener.Type,_,_,_,_)``. In a statically linked
  /// program on Linux, handlers on the main actor always run after the post has returned.
  ///
  /// - Parameters:
  ///   - name: The name of the notification.
  ///   - source: The `NotificationCenter` that posts the notification.
  ///   - sender: The object whose notifications are relayed; nil for all.
  ///   - topic: The topic.
  ///   - fileID: The file of the call site, for reports. In a wrapper, pass your caller's.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Returns the message for a notification; nil to drop it.
  /// - Returns: A token that can end the relay. You can ignore it.
  /// - Complexity: A few instructions for each notification of this name, and a `post` for each relayed one.
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
  /// Posts what a notification becomes. Returns false if the notification was dropped.
  private typealias Action = @Sendable (MulticastCenter, Notification) -> Bool

  private func relay(
    _ name: Notification.Name, from source: NotificationCenter, object sender: AnyObject?,
    deliver: @escaping Action
  ) -> NotificationRelay {
    makeRelay(sender: sender, deliver) { observer in
      // Foundation is not asked to filter by sender, because it compares addresses: see `receive`.
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

  /// Makes a relay, which the center keeps alive.
  ///
  /// - Parameters:
  ///   - sender: The object whose notifications are relayed; nil for those of all objects.
  ///   - action: What the observer does with a notification.
  ///   - observe: Adds an observer to the `NotificationCenter`, and returns a closure that removes it.
  func makeRelay<Action>(
    sender: AnyObject? = nil, _ action: Action,
    observe: (RelayObserver<Action>) -> () -> Void
  ) -> NotificationRelay {
    let observer = RelayObserver(sender: sender, to: self, action)
    attach(observer)
    observer.start { observe(observer) }
    return NotificationRelay(observer)
  }
}
