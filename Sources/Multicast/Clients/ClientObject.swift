/// Passes a client to `body` as an object, without retaining it. Stops the program if the client is a value, and names `file`
/// and `line`, which `add` passes on from its caller.
///
/// The compiler cannot reject a value, because any type may conform to a protocol that does not inherit from `AnyObject`.
///
/// The object is read from the client's memory. A debug build compares it with the result of a cast. The caller owns the
/// client, and with it the object.
@usableFromInline
func withObject<Listener, Result>(
  of client: Listener, file: StaticString = #fileID, line: Int = #line,
  _ body: (AnyObject) -> Result
) -> Result {
  // The existential `any Error` refers to an object that the runtime has made around the value. A weak reference would refer to
  // that object.
  if ExistentialType(Listener.self)?.isBoxed == true {
    fatalError(
      """
      Multicast: \(Listener.self) cannot be a listener protocol, because it keeps its value in a box of its \
      own. Use a protocol of your own that inherits from Error.
      """, file: file, line: UInt(clamping: line))
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
      """, file: file, line: UInt(clamping: line))
  }
  // A reference is the address of its object. An existential that contains a reference begins with it. A cast would take longer
  // than the rest of this function.
  return unsafe withUnsafePointer(to: client) { pointer in
    unsafe UnsafeRawPointer(pointer).assumingMemoryBound(to: Borrowed<AnyObject>.self).pointee
      .borrow { object in
        assert(object === client as AnyObject)
        return body(object)
      }
  }
}
