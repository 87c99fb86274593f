/// A borrowed, type-erased message. The receiver knows its type.
@usableFromInline
@safe
struct ErasedMessage {
  @usableFromInline
  let address: UnsafeRawPointer

  @inlinable
  @inline(__always)
  static func lend<Message, Result>(
    _ message: Message, _ body: (ErasedMessage) -> Result
  ) -> Result {
    unsafe withUnsafePointer(to: message) { pointer in
      unsafe body(ErasedMessage(UnsafeRawPointer(pointer)))
    }
  }

  @inlinable
  init(_ address: UnsafeRawPointer) {
    unsafe self.address = address
  }

  /// Calls `body` with the message, without a copy. The message must be of this type.
  @inlinable
  @inline(__always)
  func borrow<Message, Result>(as type: Message.Type, _ body: (Message) -> Result) -> Result {
    unsafe address.assumingMemoryBound(to: Borrowed<Message>.self).pointee.borrow(body)
  }
}
