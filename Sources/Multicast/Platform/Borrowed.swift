/// A value that can be read where it is, without a copy.
///
/// Use it to call through a reference that something else owns, such as an element of an array or an entry of a table. A plain
/// read of a pointer's `pointee` copies the reference, so each client that `notify` calls would cost one more retain and one
/// more release. To avoid that, bind the memory to `Borrowed<Value>`, which has the same layout. The compiler never copies a
/// noncopyable value, and cannot move the contents out of one that is borrowed, so it passes the reference as it is. The owner
/// must keep the value alive until `body` returns, and each caller says which object that is.
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
