/// A value that is borrowed and never copied.
///
/// The contents of a noncopyable value cannot be moved out while it is borrowed, so the compiler passes them
/// on in place. It would copy a pointer's `pointee` first, and a copied reference costs a retain and a
/// release.
@usableFromInline
struct Borrowed<Value>: ~Copyable {
  @usableFromInline
  let value: Value

  @inlinable
  init(_ value: Value) {
    self.value = value
  }

  @inlinable
  @inline(__always)
  borrowing func borrow<Result, Failure: Error>(
    _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(value)
  }

  @inlinable
  @inline(__always)
  nonisolated(nonsending) borrowing func borrow<Result, Failure: Error>(
    awaiting body: nonisolated(nonsending) (Value) async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    try await body(value)
  }
}
