extension MulticastDelegate {
  /// Like ``deliver(_:from:_:)``, and reports the delivery, unless a callback causes it.
  @usableFromInline
  func deliverReporting<Failure: Error>(
    _ way: DeliveryEvent.Way, _ fileID: StaticString, _ line: Int, _ column: Int,
    _ body: (Listener, WeakBox) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    let site = CallSite(fileID: fileID, line: line, column: column)
    var notify = ActiveDelivery(list: ObjectIdentifier(clientList), site: site)
    return unsafe try withUnsafeMutablePointer(to: &notify) { (notify) throws(Failure) -> Int in
      let subject = DeliverySubject.listener(Listener.self)
      guard
        unsafe reentrancyGuard.enter(notify, list: clientList, key: { subject.description })
      else {
        reporter?.refuse(way, subject, from: site)
        return 0
      }
      defer { unsafe notify.pointee.pop() }
      return try forEachClientReporting(way, from: site, body)
    }
  }

  private func forEachClientReporting<Failure: Error>(
    _ way: DeliveryEvent.Way, from site: CallSite,
    _ body: (Listener, WeakBox) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    let pass = reporter?.begin(way, .listener(Listener.self), from: site)
    defer { pass?.end() }
    return try forEachClient { (client, box) throws(Failure) in
      #if DEBUG
        box.checkHome(of: client, as: Listener.self, in: clientList, from: site)
      #endif
      // Read before the call, in which the client may be removed.
      let type = box.reportedType ?? Listener.self
      let start = Moment.now
      // A call that throws counts, too.
      defer { pass?.called(type, since: start) }
      try body(client, box)
    }
  }

  /// Like ``forEachClientReporting(_:from:_:)``, awaiting each client's call.
  @usableFromInline
  nonisolated(nonsending) func forEachClientReporting<Failure: Error>(
    from site: CallSite,
    awaiting body: nonisolated(nonsending) (Listener) async throws(Failure) -> Void
  ) async throws(Failure) -> Int {
    let pass = reporter?.begin(.awaiting, .listener(Listener.self), from: site)
    defer { pass?.end() }
    return try await forEachClient(from: site) { (client, box) async throws(Failure) in
      let type = box.reportedType ?? Listener.self
      let start = Moment.now
      defer { pass?.called(type, since: start) }
      try await body(client)
    }
  }
}
