import Synchronization

extension WeakBox {
  /// Where the reference to the companion is kept; nil once it was taken out.
  ///
  /// Atomic, because it may be exchanged while a walk reads it. What was exchanged or taken is
  /// released when no walk can have it in hand any more.
  private var companionReference: UnsafeMutablePointer<Atomic<Unmanaged<ClientList.Companion>?>> {
    unsafe address.advanced(by: Self.headerSize).assumingMemoryBound(to: Atomic.self)
  }

  /// Calls `body` with the companion, which is not retained: the list keeps it during a walk.
  func withCompanion<Companion: AnyObject, Result>(
    as type: Companion.Type, _ body: (Companion) -> Result
  ) -> Result? {
    guard let reference = unsafe companionReference.pointee.load(ordering: .acquiring) else {
      return nil
    }
    return unsafe withUnsafePointer(to: reference) { pointer in
      unsafe UnsafeRawPointer(pointer).assumingMemoryBound(to: Borrowed<Companion>.self)
        .pointee.borrow(body)
    }
  }

  /// Retains the companion, for a box that is a copy of another one.
  func retainCompanion() {
    _ = unsafe companionReference.pointee.load(ordering: .relaxed)?.retain()
  }

  /// Exchanges the companion, and returns the one before.
  func exchangeCompanion(with companion: ClientList.Companion) -> ClientList.Companion? {
    unsafe companionReference.pointee
      .exchange(.passRetained(companion), ordering: .acquiringAndReleasing)?.takeRetainedValue()
  }

  /// Takes the companion out of a box that is vacated.
  func takeCompanion() -> ClientList.Companion? {
    unsafe companionReference.pointee.exchange(nil, ordering: .acquiringAndReleasing)?
      .takeRetainedValue()
  }
}
