/// Calls `body` with the object of a client, without retaining it. Stops the program if the client is a value, and names the
/// place.
///
/// The compiler cannot reject a value, because any type may conform to a protocol without `AnyObject`.
@usableFromInline
func withObject<Listener, Result>(
  of client: Listener, file: StaticString = #fileID, line: Int = #line,
  _ body: (AnyObject) -> Result
) -> Result {
  // An existential of Error boxes its value. The weak reference would refer to the box.
  guard Listener.self != (any Error).self, Listener.self != (any Error & AnyObject).self else {
    fatalError(
      """
      Multicast: \(Listener.self) cannot be a listener protocol, because it keeps its value in a box of its \
      own. Use a protocol of your own that inherits from Error.
      """, file: file, line: UInt(line))
  }
  let type = Swift.type(of: client as Any)
  guard type is AnyClass else {
    let name = "\(type)"
    let advice =
      zip(name, name.dropFirst()).contains { $0 == "-" && $1 == ">" }
      ? "Observe a topic with the closure instead."
      : "Make \(name) a class or an actor, or add the object that owns it."
    fatalError(
      """
      Multicast: a client of type \(name) cannot listen to \(Listener.self): only class instances and \
      actors can be held weakly, and this is a value. \(advice)
      """, file: file, line: UInt(line))
  }
  // A reference begins with its object, and so does every other existential that holds one. A cast would take longer than all
  // of this.
  return unsafe withUnsafePointer(to: client) { pointer in
    unsafe UnsafeRawPointer(pointer).assumingMemoryBound(to: Borrowed<AnyObject>.self).pointee
      .borrow { object in
        assert(object === client as AnyObject)
        return body(object)
      }
  }
}
