/// What a registration is found by.
struct ClientKey {
  /// A number other than 0.
  let identity: UInt

  /// Tells registrations apart that have the same number. It is asked with the lock held, and must not
  /// run a client's code.
  let matches: (WeakBox) -> Bool

  /// The key of a client that can be registered once.
  init(_ client: AnyObject) {
    identity = ObjectIdentifier(client).address
    matches = { _ in true }
  }

  init(identity: UInt, matches: @escaping (WeakBox) -> Bool) {
    self.identity = identity == 0 ? 1 : identity
    self.matches = matches
  }
}
