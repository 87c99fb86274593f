struct ClientKey {
  /// The client's address. No two live objects share one.
  let identity: UInt

  /// Distinguishes the registrations of one client. Called with the lock held, so it must not run a client's
  /// code.
  let matches: (WeakBox) -> Bool

  /// The key of a client that is registered once at most.
  init(_ client: AnyObject) {
    self.init(ObjectIdentifier(client)) { _ in true }
  }

  /// The key of one of several registrations of a client.
  init(_ client: ObjectIdentifier, matches: @escaping (WeakBox) -> Bool) {
    self.init(identity: client.address, matches: matches)
  }

  init(identity: UInt, matches: @escaping (WeakBox) -> Bool) {
    self.identity = identity
    self.matches = matches
  }
}
