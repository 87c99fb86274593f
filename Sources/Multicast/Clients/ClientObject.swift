/// The object that a client is.
///
/// Stops the program if the client is not an object: a copy of a value has no identity and no life of
/// its own, so that it can neither be told from another one nor be referred to weakly. The compiler
/// cannot refuse it, because any type may conform to a protocol that is not restricted to classes.
func object<Listener>(of client: Listener) -> AnyObject {
  // The existential of errors is a box around its value. The box, not the client, is what would be
  // referred to.
  guard Listener.self != (any Error).self, Listener.self != (any Error & AnyObject).self else {
    fatalError(
      """
      Multicast: \(Listener.self) cannot be a listener protocol, because it keeps its value in a box of its \
      own. Use a protocol of your own that inherits from Error.
      """)
  }
  let type = Swift.type(of: client as Any)
  guard type is AnyClass else {
    fatalError(
      """
      Multicast: a client of type \(type) cannot listen to \(Listener.self): only class instances and \
      actors can be held weakly, and this is a value. Make \(type) a class or an actor, or let an \
      object that owns it be the client.
      """)
  }
  return client as AnyObject
}
