/// Memory for a value that stays in its place, in the object that owns it.
///
/// The layout makes the compiler leave the value where it is while it is borrowed. So the address is constant, and
/// an access is not checked at run time for overlapping another one, as that of a class's variable may be. The
/// owner has to order the accesses.
@_rawLayout(like: Value)
@safe
struct Cell<Value: ~Copyable>: ~Copyable {
  init(_ value: consuming Value) {
    unsafe address.initialize(to: value)
  }

  deinit {
    unsafe address.deinitialize(count: 1)
  }

  var address: UnsafeMutablePointer<Value> {
    @_transparent get {
      unsafe withUnsafePointer(to: self) { place in
        unsafe UnsafeMutableRawPointer(mutating: place).assumingMemoryBound(to: Value.self)
      }
    }
  }
}
