/// Calls `body` with the object that a client is, which is not retained.
///
/// Stops the program if the client is not an object: see ``object(of:)``.
func withObject<Listener, Result>(
  of client: Listener, _ body: (AnyObject) -> Result
) -> Result {
  unsafe withUnsafePointer(to: client) { pointer in
    let bits = unsafe UnsafeRawPointer(pointer)
    guard unsafe beginsWithObject(bits, as: Listener.self) else {
      return body(object(of: client))
    }
    return unsafe bits.assumingMemoryBound(to: Borrowed<AnyObject>.self).pointee.borrow { object in
      assert(object === Multicast.object(of: client))
      return body(object)
    }
  }
}

/// Whether a listener's bits are known to begin with a reference to the object that it is. False if they do
/// not, or if that is for ``object(of:)`` to find out.
///
/// To ask the language takes several casts and a copy. What is read here instead is laid down in the document
/// `TypeMetadata` of the Swift project, and cannot change where Swift is part of the system. A type's metadata
/// begins with its kind, which for a class is 0 or, with Objective-C, a pointer, and pointers are larger than
/// all kinds. The type of an existential has flags behind its kind. An existential of a protocol
/// restricted to classes begins with the reference. Any other one consists of three words for the value, of
/// which a reference fills the first, and the metadata of the value's type.
private func beginsWithObject<Listener>(
  _ bits: UnsafeRawPointer, as listener: Listener.Type
) -> Bool {
  let metadata = unsafe unsafeBitCast(listener as Any.Type, to: UnsafeRawPointer.self)
  if unsafe isClass(metadata) { return true }
  guard unsafe metadata.load(as: UInt.self) == MetadataKind.existential else { return false }
  let flags = unsafe metadata.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt32.self)
  // Special is `any Error`, with a layout of its own.
  guard flags & MetadataKind.specialProtocolFlags == 0 else { return false }
  guard flags & MetadataKind.anyTypeFlag != 0 else { return true }
  return unsafe isClass(
    bits.load(fromByteOffset: 3 * MemoryLayout<UInt>.size, as: UnsafeRawPointer.self))
}

private func isClass(_ metadata: UnsafeRawPointer) -> Bool {
  let kind = unsafe metadata.load(as: UInt.self)
  return kind == 0 || kind > MetadataKind.last
}

private enum MetadataKind {
  static var existential: UInt { 0x303 }
  static var last: UInt { 0x7FF }
  static var anyTypeFlag: UInt32 { 0x8000_0000 }
  static var specialProtocolFlags: UInt32 { 0x3F00_0000 }
}

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
      actors can be held weakly, and this is a value. \(advice)
      """)
  }
  return client as AnyObject
}
