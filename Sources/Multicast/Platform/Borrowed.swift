/// A value that is borrowed in place and never copied.
///
/// The compiler cannot move the contents out of a borrowed noncopyable value. It would copy a pointer's
/// `pointee`, at the cost of a retain and a release.
@usableFromInline struct Borrowed<Value>: ~Copyable {
  @usableFromInline let value: Value

  @inlinable
  init(_ value: Value) {
    self.value = value
  }

  @inlinable @inline(__always)
  borrowing func borrow<Result: ~Copyable, Failure: Error>(
    _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(value)
  }
}
