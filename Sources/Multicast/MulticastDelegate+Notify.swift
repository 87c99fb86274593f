extension MulticastDelegate {
  /// Calls every client now, on this thread, in the order in which they were added.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// delegates.notify { $0.userLogin(19000) }
  /// ```
  ///
  /// The clients are those registered when the call begins, except those removed or deallocated before their
  /// turn. Call this in the home of all of them: a debug build stops if a client that is not an actor has another
  /// home. Use `post` then.
  ///
  /// A client may notify in turn. If it notifies from this same call site, directly or through other clients,
  /// that is a loop: the inner call calls no client, and is reported. Two properties that notify through one
  /// function share its call site, so if a client sets one while it is called for the other, no client is called
  /// for the second change. Post instead, or let the function take its callers' `fileID`, `line` and `column`:
  /// see <doc:Loops>.
  ///
  /// The first error that `body` throws ends the call and reaches you. The compiler infers `any Error` unless
  /// you write the type: `{ client throws(StoreError) in … }`.
  ///
  /// - Parameters:
  ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - body: Receives each client.
  /// - Returns: The number of clients called.
  /// - Complexity: O(*n*) for *n* clients, and a few instructions without clients. Allocates nothing,
  ///   unless it removes deallocated clients or is reported.
  @discardableResult @inlinable @inline(__always)
  public func notify<Failure: Error>(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: (Listener) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    try notifyEach(from: CallSite(fileID: fileID, line: line, column: column)) {
      (client, _) throws(Failure) in
      try body(client)
    }
  }

  /// Calls every client on this thread, and reports the calls if the center has an `onDelivery`.
  ///
  /// `notify`, `map` and `notify(forEach:)` all use this method. It uses `body` once, so that the compiler inlines the caller's
  /// closure into the loop. With two uses, such as a second loop that does not report, each use would be a call.
  ///
  /// - Parameter body: Receives each client and its box.
  /// - Returns: The number of clients called; 0 if the guard has refused the delivery.
  @inlinable @inline(__always)
  func notifyEach<Failure: Error>(
    _ way: DeliveryEvent.Way = .notify, from site: CallSite,
    _ body: (Listener, WeakBox) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    if clientList.isSilent { return 0 }
    var frame = DeliveryFrame(list: ObjectIdentifier(clientList), site: site)
    return unsafe try withUnsafeMutablePointer(to: &frame) { (frame) throws(Failure) -> Int in
      guard unsafe loopGuard.enter(frame, list: clientList, way) else { return 0 }
      defer { unsafe frame.pointee.pop() }
      // Without `onDelivery`, `pass` and `call` are nil. The pass is never copied, so that the loop does not retain it for each
      // client.
      let pass = Borrowed(reporter?.beginPass(way, clientList, from: site))
      defer { pass.value?.endPass() }
      return try forEachClient { (client, box) throws(Failure) in
        #if DEBUG
          box.checkHome(as: Listener.self, from: site)
        #endif
        // Reads the client's type before the call, in which the client may be removed. A call that throws is reported, too.
        let call = pass.value?.beginCall(of: box)
        // There is a call only if there is a pass, so this does not test the pass again.
        defer { if let call { unsafe pass.value.unsafelyUnwrapped.endCall(call) } }
        try body(client, box)
      }
    }
  }

  /// Calls `body` with the clients that are registered now and are still registered and alive at their turn.
  ///
  /// - Returns: The number of calls.
  @discardableResult @inlinable @inline(__always)
  func forEachClient<Failure: Error>(
    _ body: (Listener, WeakBox) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    try clientList.forEach(in: clientList.boxes) { (box) throws(Failure) in
      // Nil for a deallocated client, and for a removed one, whose box is empty already.
      try Self.clientBox(box).withClient { (client) throws(Failure) in try body(client, box) }
        == nil
        ? .gone : .called
    }
  }

  /// Casts a box of this delegate's list to its class, without a check. The list contains boxes of this class only, because
  /// only `add` registers boxes in it.
  @inlinable
  static func clientBox(_ box: WeakBox) -> ClientBox<Listener> {
    unsafe unsafeDowncast(box, to: ClientBox<Listener>.self)
  }
}

extension MulticastDelegate {
  /// Asks every client now, on this thread, and returns the answers.
  ///
  /// <!-- example: in Delegates -->
  /// ```swift
  /// let mayClose = delegates.map { $0.documentMayClose() }
  ///   .allSatisfy { $0 }
  /// ```
  ///
  /// It calls the clients as `notify` does. The first error ends the call, and the answers are lost.
  ///
  /// - Parameters:
  ///   - fileID: The file of the call site. In a wrapper, pass your caller's: see ``CallSite``.
  ///   - line: The line of the call site.
  ///   - column: The column of the call site.
  ///   - transform: Returns a client's answer.
  /// - Returns: The answers, in the order of the clients. Empty if there are no clients, or if the call was a
  ///   loop; then `allSatisfy` returns true.
  /// - Complexity: O(*n*) for *n* clients.
  @inlinable
  public func map<Answer, Failure: Error>(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ transform: (Listener) throws(Failure) -> Answer
  ) throws(Failure) -> [Answer] {
    var answers: [Answer] = []
    _ = try notifyEach(.map, from: CallSite(fileID: fileID, line: line, column: column)) {
      (client, _) throws(Failure) in
      answers.append(try transform(client))
    }
    return answers
  }
}
