extension WeakBox {
  /// Where the reference to the companion is kept; nil once it was taken out.
  ///
  /// It is written with the list's lock held, while no walk is under way here. So whoever walks may read it
  /// without the lock.
  private var companionReference: UnsafeMutablePointer<Unmanaged<ClientList.Companion>?> {
    unsafe address.advanced(by: Self.headerSize)
      .assumingMemoryBound(to: Unmanaged<ClientList.Companion>?.self)
  }

  /// Calls `body` with the companion, which is not retained: the list keeps it during a walk.
  func withCompanion<Companion: AnyObject, Result>(
    as type: Companion.Type, _ body: (Companion) -> Result
  ) -> Result? {
    guard let reference = unsafe companionReference.pointee else { return nil }
    return unsafe withUnsafePointer(to: reference) { pointer in
      unsafe UnsafeRawPointer(pointer).assumingMemoryBound(to: Borrowed<Companion>.self)
        .pointee.borrow(body)
    }
  }

  /// The companion, retained.
  var companion: ClientList.Companion? {
    unsafe companionReference.pointee?.takeUnretainedValue()
  }

  /// Whether this object is the companion.
  func hasCompanion(_ companion: ClientList.Companion) -> Bool {
    unsafe companionReference.pointee?.toOpaque()
      == Unmanaged<ClientList.Companion>.passUnretained(companion).toOpaque()
  }

  /// Retains the companion, for a box that has just been filled.
  func retainCompanion() {
    _ = unsafe companionReference.pointee?.retain()
  }

  /// Puts another companion in, and returns the one before.
  func exchangeCompanion(with companion: ClientList.Companion) -> ClientList.Companion? {
    let old = takeCompanion()
    unsafe companionReference.pointee = .passRetained(companion)
    return old
  }

  /// Takes the companion out.
  func takeCompanion() -> ClientList.Companion? {
    let old = unsafe companionReference.pointee
    unsafe companionReference.pointee = nil
    return unsafe old?.takeRetainedValue()
  }
}
