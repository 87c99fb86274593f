extension MulticastDelegate {
  /// As ``forEachClient(_:)``, and reports it, unless it is the reporting that notifies.
  @usableFromInline
  func forEachClientReporting<Failure: Error>(
    _ way: DeliveryEvent.Way, from site: CallSite,
    _ body: (Listener, WeakBox) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    let pass = reporter?.begin(way, .listener(Listener.self), from: site)
    defer { pass?.end() }
    return try forEachClient { (client, box) throws(Failure) in
      #if DEBUG
        box.checkHome(of: client, as: Listener.self, from: site)
      #endif
      // Found out before the call, in which the client may be removed.
      let type = box.reportedType ?? Listener.self
      let start = ContinuousClock.now
      // What throws was called, too.
      defer { pass?.called(type, since: start) }
      try body(client, box)
    }
  }

  /// As ``forEachClientReporting(_:from:_:)``, awaiting each client's call.
  @usableFromInline
  nonisolated(nonsending) func forEachClientReporting<Failure: Error>(
    from site: CallSite,
    awaiting body: nonisolated(nonsending) (Listener) async throws(Failure) -> Void
  ) async throws(Failure) -> Int {
    let pass = reporter?.begin(.awaiting, .listener(Listener.self), from: site)
    defer { pass?.end() }
    return try await forEachClient(from: site) { (client, box) async throws(Failure) in
      let type = box.reportedType ?? Listener.self
      let start = ContinuousClock.now
      defer { pass?.called(type, since: start) }
      try await body(client)
    }
  }
}
