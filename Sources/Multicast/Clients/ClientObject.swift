/// Returns the object that a client is.
///
/// Stops the program if the client is a value. A value has no identity, and cannot be referred to weakly. The
/// compiler cannot refuse it, because any type may conform to a protocol that is not restricted to classes.
func object<Listener>(of client: Listener) -> AnyObject {
  // An existential of Error boxes its value. The weak reference would refer to the box.
  guard Listener.self != (any Error).self, Listener.self != (any Error & AnyObject).self else {
    fatalError(
      """
      Multicast: \(Listener.self) cannot be a listener protocol, because it keeps its value in a box of its \
      own. Use a protocol of your own that inherits from Error.
      """)
  }
  let type = Swift.type(of: client as Any)
  guard type is AnyClass else {
    let name = "\(type)"
    let advice =
      name.contains(" -> ")
      ? "Observe a topic with the closure instead."
      : "Make \(name) a class or an actor, or add the object that owns it."
    fatalError(
      """
      Multicast: a client of type \(name) cannot listen to \(Listener.self): only class instances and \
      actors can be held weakly. \(advice)
      """)
  }
  return client as AnyObject
}
