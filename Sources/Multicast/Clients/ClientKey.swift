/// What a registration is found by.
struct ClientKey {
  /// The client's address, which no two objects have at the same time.
  let identity: UInt

  /// Tells apart the registrations of one client. It is asked with the lock held, and must not run a
  /// client's code.
  let matches: (WeakBox) -> Bool

  /// The key of a client that can be registered once.
  init(_ client: AnyObject) {
    self.init(ObjectIdentifier(client)) { _ in true }
  }

  /// The key of one of a client's registrations.
  init(_ client: ObjectIdentifier, matches: @escaping (WeakBox) -> Bool) {
    self.init(identity: client.address, matches: matches)
  }

  init(identity: UInt, matches: @escaping (WeakBox) -> Bool) {
    self.identity = identity
    self.matches = matches
  }
}
