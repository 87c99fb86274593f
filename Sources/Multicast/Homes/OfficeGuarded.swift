/// A value that the lock of a post office protects. It belongs to one office.
///
/// The value is in memory of its own. An access to a class's variable would be checked at run time for overlapping
/// another one.
///
/// Unchecked, because only the holder of the lock has the office's state, which each access takes.
@safe
struct OfficeGuarded<Value>: ~Copyable, @unchecked Sendable {
  private let place: UnsafeMutablePointer<Value>

  init(_ value: consuming sending Value) {
    unsafe place = .allocate(capacity: 1)
    unsafe place.initialize(to: value)
  }

  deinit {
    unsafe place.deinitialize(count: 1)
    unsafe place.deallocate()
  }

  @_transparent
  func use<Result>(
    _ office: inout PostOffice.State, _ body: (inout Value) -> Result
  ) -> Result {
    unsafe body(&place.pointee)
  }
}
