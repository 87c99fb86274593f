/// A value that the lock of a post office protects. It belongs to one office.
///
/// Unchecked, because only the holder of the lock has the office's state, which each access takes.
struct OfficeGuarded<Value>: ~Copyable, @unchecked Sendable {
  private let cell: Cell<Value>

  init(_ value: consuming sending Value) {
    cell = Cell(value)
  }

  @_transparent
  func use<Result>(
    _ office: inout PostOffice.State, _ body: (inout Value) -> Result
  ) -> Result {
    unsafe body(&cell.address.pointee)
  }
}
