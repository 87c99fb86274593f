import Dispatch

extension MulticastDelegate {
  /// Adds a client at the end of the list.
  ///
  /// The client is held weakly. Active deliveries do not call it.
  ///
  /// A client added inside an actor lives in that actor: `post` calls it there. That includes the main actor,
  /// and does not hold where the compiler knows here that the protocol is `Sendable`. A client that adds
  /// itself in a nonisolated `init` has no home, and is called on every thread that notifies or posts. So is
  /// a client that is an actor, unless it is added in code isolated to itself, or with `isolation:` itself: then
  /// `post` calls it there.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - isolation: The client's home. By default, the actor that this is called in.
  ///   - fileID: The caller's file, for messages about this client. A wrapper passes its caller's on.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Returns: Whether the client was added. False if it is in the list already, and keeps its
  ///   place and home. False while the client is being deinitialized.
  /// - Complexity: Amortized O(1).
  @discardableResult @inlinable
  public func add(
    _ client: Listener, isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Bool {
    let site = CallSite(fileID: fileID, line: line, column: column)
    return add(client, in: isolation, on: nil, at: site, isHomeGiven: isolation != nil)
  }

  /// Adds a client that lives on a dispatch queue, or anywhere, at the end of the list.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - queue: The client's home. Calls do not overlap, on a concurrent queue either. The main queue is the
  ///     main actor. What is posted on a global queue reaches the client a little later, on that queue. Pass nil for
  ///     a client that may be called on any thread.
  ///   - fileID: The caller's file, for messages about this client. A wrapper passes its caller's on.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Returns: Whether the client was added. False if it is in the list already, and keeps its
  ///   place and home. False while the client is being deinitialized.
  /// - Complexity: Amortized O(1).
  @discardableResult @inlinable
  public func add(
    _ client: Listener, on queue: DispatchQueue?,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Bool {
    let site = CallSite(fileID: fileID, line: line, column: column)
    return add(client, in: nil, on: queue, at: site, isHomeGiven: true)
  }

  /// - Parameter isHomeGiven: Whether the caller has said where the client lives.
  @inlinable
  func add(
    _ client: Listener, in isolation: (any Actor)?, on queue: DispatchQueue?, at site: CallSite,
    isHomeGiven: Bool
  ) -> Bool {
    withObject(of: client, file: site.file, line: site.line) { object in
      add(
        ClientBox(client, object, at: home(of: object, in: isolation, on: queue)), at: site,
        isHomeGiven: isHomeGiven)
    }
  }

  @usableFromInline
  func add(_ box: WeakBox, at site: CallSite, isHomeGiven: Bool) -> Bool {
    #if DEBUG
      if !isHomeGiven, MainActor.presence() == .here { box.addedOnMain = AddedOnMain(at: site) }
    #endif
    while true {
      let placement = clientList.place(box)
      if placement != .full { return placement == .added }
      if !clientList.makeRoom() { ClientList.findDeadElsewhere(in: [clientList]) }
    }
  }

  @usableFromInline
  func home(
    of client: AnyObject, in isolation: (any Actor)?, on queue: DispatchQueue?
  ) -> Home? {
    if let queue { return office.mailbox(of: queue) }
    guard let isolation else { return nil }
    // An actor lives in no other actor, where its isolated methods could not be called. It lives in itself if it is added there.
    if isolation !== client, isActor(client) { return nil }
    return office.mailbox(of: isolation)
  }

  /// Whether a client is an actor.
  ///
  /// Remembers the answer for the class of the last client, because a dynamic cast takes longer than everything else in an
  /// `add`. Relaxed: class and answer are one value. The lowest bit of a class's address is free.
  private func isActor(_ client: AnyObject) -> Bool {
    let type = ObjectIdentifier(Swift.type(of: client)).address
    let known = recentClass.load(ordering: .relaxed)
    if known & ~1 == type { return known & 1 == 1 }
    let answer = client is any Actor
    recentClass.store(type | (answer ? 1 : 0), ordering: .relaxed)
    return answer
  }

  /// Removes a client.
  ///
  /// After that, no new call to the client begins from this list on this thread, and what was posted before
  /// no longer calls it. A call on another thread may still run. Safe in the client's `deinit`, and not
  /// needed there.
  ///
  /// - Parameter client: A class instance or an actor. A value stops the program.
  /// - Returns: Whether the client was in the list. False while the client is being deinitialized.
  /// - Complexity: Amortized O(1).
  @discardableResult
  public func remove(_ client: Listener) -> Bool {
    withObject(of: client) { object in remove(object: object) }
  }

  func remove(object: AnyObject) -> Bool { clientList.remove(object) }

  /// Removes all clients. Active deliveries call no further client.
  ///
  /// - Complexity: O(*n*).
  public func removeAll() { clientList.removeAll() }

  /// Returns whether a client is in the list. False while the client is being deinitialized.
  ///
  /// - Parameter client: A class instance or an actor. A value stops the program.
  /// - Complexity: O(1).
  public func contains(_ client: Listener) -> Bool {
    withObject(of: client) { object in clientList.contains(object) }
  }

  /// The live clients, in order. The array keeps them alive.
  ///
  /// All of them must live where this is read: a debug build stops if one lives elsewhere.
  ///
  /// - Complexity: O(*n*).
  public var clients: [Listener] {
    var clients: [Listener] = []
    forEachClient { client, box in
      #if DEBUG
        box.checkHome(as: Listener.self, from: nil)
      #endif
      clients.append(client)
    }
    return clients
  }

  /// The number of live clients.
  ///
  /// It is exact for clients without a home, and for those whose home is where this is read. Each of them is held for an
  /// instant, and deallocated here if its last owner releases it in that instant. A client with another home is not
  /// touched. It counts until its home has noticed its end: with the next post, or as clients are added.
  ///
  /// - Complexity: O(*n*).
  public var count: Int {
    clientList.findDead(in: clientList.boxes)
    return clientList.boxes.registered
  }

  /// Whether no client is alive. Those count that ``count`` counts.
  ///
  /// - Complexity: O(*n*), and O(1) if the first client is alive.
  public var isEmpty: Bool { !clientList.boxes.contains { box in box.mayBeAlive } }
}

extension MulticastDelegate where Listener: Sendable {
  /// Adds a client at the end of the list.
  ///
  /// The client has no home. It is called on every thread that notifies or posts.
  ///
  /// - Parameters:
  ///   - client: A class instance or an actor. A value stops the program.
  ///   - fileID: The caller's file, for messages about this client. A wrapper passes its caller's on.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Returns: Whether the client was added. False if it is in the list already, and keeps its place.
  ///   False while the client is being deinitialized.
  /// - Complexity: Amortized O(1).
  @discardableResult @inlinable
  public func add(
    _ client: Listener,
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column
  ) -> Bool {
    add(client, on: nil, fileID: fileID, line: line, column: column)
  }
}
