extension WeakBox {
  /// The reference to the companion; nil once it was taken.
  ///
  /// It is written with the list's lock held and no walk active, so walks read it without the lock.
  private var companionReference: UnsafeMutablePointer<Unmanaged<ClientList.Companion>?> {
    unsafe address.advanced(by: Self.headerSize)
      .assumingMemoryBound(to: Unmanaged<ClientList.Companion>?.self)
  }

  /// Calls `body` with the companion without retaining it. The list keeps it during a walk.
  func withCompanion<Companion: AnyObject, Result>(
    as type: Companion.Type, _ body: (Companion) -> Result
  ) -> Result? {
    guard let reference = unsafe companionReference.pointee else { return nil }
    return unsafe withUnsafePointer(to: reference) { pointer in
      unsafe UnsafeRawPointer(pointer).assumingMemoryBound(to: Borrowed<Companion>.self)
        .pointee.borrow(body)
    }
  }

  var companion: ClientList.Companion? {
    unsafe companionReference.pointee?.takeUnretainedValue()
  }

  func hasCompanion(_ companion: ClientList.Companion) -> Bool {
    unsafe companionReference.pointee?.toOpaque()
      == Unmanaged<ClientList.Companion>.passUnretained(companion).toOpaque()
  }

  /// Retains the companion of a box that has just been initialized.
  func retainCompanion() {
    _ = unsafe companionReference.pointee?.retain()
  }

  func takeCompanion() -> ClientList.Companion? {
    let old = unsafe companionReference.pointee
    unsafe companionReference.pointee = nil
    return unsafe old?.takeRetainedValue()
  }
}
