/// Calls `body` with the object of a client, without retaining it. Stops the program if the client is a
/// value, and names the place.
@usableFromInline
func withObject<Listener, Result>(
  of client: Listener, file: StaticString = #fileID, line: Int = #line,
  _ body: (AnyObject) -> Result
) -> Result {
  unsafe withUnsafePointer(to: client) { pointer in
    let bits = unsafe UnsafeRawPointer(pointer)
    guard unsafe beginsWithObject(bits, as: Listener.self) else {
      return body(object(of: client, file: file, line: line))
    }
    return unsafe bits.assumingMemoryBound(to: Borrowed<AnyObject>.self).pointee.borrow { object in
      assert(object === Multicast.object(of: client, file: file, line: line))
      return body(object)
    }
  }
}

/// Whether a listener's bits begin with a reference to its object. False if ``object(of:)`` must find out.
///
/// Asking the language takes several casts and a copy. The metadata layout read here is part of the stable
/// ABI (`TypeMetadata` in the Swift project). Metadata begins with its kind: 0 for a class, or an Objective-C
/// pointer, which is larger than every kind. An existential's flags follow its kind. A class-bound
/// existential begins with the reference. Any other one has three words for the value, then its type's
/// metadata; a reference fills the first word.
private func beginsWithObject<Listener>(
  _ bits: UnsafeRawPointer, as listener: Listener.Type
) -> Bool {
  let metadata = unsafe unsafeBitCast(listener as Any.Type, to: UnsafeRawPointer.self)
  if unsafe isClass(metadata) { return true }
  guard unsafe metadata.load(as: UInt.self) == MetadataKind.existential else { return false }
  let flags = unsafe metadata.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt32.self)
  // `any Error` has a special layout.
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

/// Returns the object of a client. Stops the program if the client is a value.
///
/// The compiler cannot reject a value, because any type may conform to a protocol without `AnyObject`.
func object<Listener>(of client: Listener, file: StaticString, line: Int) -> AnyObject {
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
  return client as AnyObject
}
