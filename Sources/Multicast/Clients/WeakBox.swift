import MulticastPlatform

/// A registration: a weak reference to a client, and its home.
///
/// A list and the deliveries of it share their boxes. A removal empties the box, which all of them see. A box that has
/// left the list lives until the last delivery that has it ends.
///
/// Unchecked, because a weak reference is a variable before Swift 6.3. Only `init` assigns it, and any thread may load
/// it. Clients need not be Sendable; they are held weakly here and not called.
@usableFromInline
class WeakBox: AtomicWord, @unchecked Sendable {
  @usableFromInline let reference: WeakReference

  /// The client's home; nil for a client without one.
  final let home: Home?

  /// The client's class, for reports where the client must not be loaded.
  final let type: AnyClass

  #if DEBUG
    /// Where a client was added on the main thread without a word about its home. Set before a list has the box.
    final var addedOnMain: AddedOnMain?
  #endif

  @usableFromInline
  init(_ client: AnyObject, at home: Home?) {
    reference = WeakReference(client)
    self.home = home
    type = Swift.type(of: client)
    super.init(word: UInt64(ObjectIdentifier(client).address))
  }

  /// What the box is found by beside its client; 0 for nothing. It need not be the box's alone.
  var key: UInt { 0 }

  /// The client's address; 0 if it was removed. It is the object's word.
  ///
  /// Relaxed: a lock has published the box, and the value orders no other memory. It changes once, to 0, so a thread
  /// that has seen the removal sees 0 from then on.
  @inlinable final var identity: UInt {
    unsafe withWord { word in
      unsafe UInt(truncatingIfNeeded: multicast_load(word, AtomicOrdering.relaxed.rawValue))
    }
  }

  final var isRegistered: Bool { identity != 0 }

  /// A strong reference to the client; nil if it was removed or deallocated.
  ///
  /// Called in the client's home, if it has one: the client may be released here last.
  @inlinable @inline(__always)
  final func load() -> AnyObject? { identity == 0 ? nil : reference.client }

  /// Whether the client is alive, removed or not.
  ///
  /// The caller holds the client, or another object at the address of one that was deallocated. So nothing is released
  /// here last, and a lock may be held.
  final var isAlive: Bool { reference.client != nil }

  /// Ends the registration. Deliveries see that at once. Returns false if it had ended.
  final func empty() -> Bool {
    unsafe withWord { word in unsafe multicast_exchange(word, 0, AtomicOrdering.relaxed.rawValue) }
      != 0
  }

  /// Releases what is held for the client, after the registration has ended. Called with no lock held.
  func releaseContents() {}
}

// MARK: - For deliveries and reports

extension WeakBox {
  /// Whether the client may be loaded on this thread: it has no home, or has it here. Called with no lock held.
  final var mayBeLoaded: Bool { home?.mayRelease ?? true }

  /// Whether the client is registered and, if it may be loaded here, alive. Called with no lock held.
  final var mayBeAlive: Bool { isRegistered && (!mayBeLoaded || load() != nil) }

  /// The type that reports name: the client's, or the one that an owner represents.
  final var shownType: any Any.Type { (type as? any LibraryOwner.Type)?.shownType ?? type }

  /// Like ``shownType``. Nil if the client was removed or deallocated. Called in the client's home, if it has one.
  final var reportedType: (any Any.Type)? { load().map { _ in shownType } }
}

#if DEBUG
  /// An object, because most boxes have none.
  final class AddedOnMain: Sendable {
    let site: CallSite
    init(at site: CallSite) { self.site = site }
  }
#endif

/// An owner that represents one of the user's objects. Its handler may keep it.
package protocol LibraryOwner {
  static var shownType: any Any.Type { get }
}

/// A weak reference that is loaded where it is.
@usableFromInline struct WeakReference: ~Copyable {
  @usableFromInline weak var client: AnyObject?

  @usableFromInline
  init(_ client: AnyObject) {
    self.client = client
  }
}

/// The box of a listener protocol's client.
///
/// The bits are the client's existential as `add` received it, not retained. With a weak reference alone, each call would
/// need a dynamic cast to `any Listener`, the most expensive part of a delivery. The bits are borrowed in place while a
/// strong reference loaded from the weak one is held, so a call costs one weak load and one release.
///
/// Unchecked like its superclass. The bits are a constant, and read only where the client may be called.
@usableFromInline
final class ClientBox<Listener>: WeakBox, @unchecked Sendable {
  @usableFromInline let bits: Bits

  @inlinable
  init(_ client: Listener, _ object: AnyObject, at home: Home?) {
    bits = Bits(of: client)
    super.init(object, at: home)
  }

  deinit { bits.deallocate(as: Listener.self) }

  /// Calls `body` with the client. Returns nil if it was removed or deallocated.
  @inlinable @inline(__always)
  func withClient<Result, Failure: Error>(
    _ body: (Listener) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let client = load() else { return nil }
    // `consume` passes on the reference of the weak load, so there is no second one.
    let retained = unsafe Unmanaged.passRetained(consume client)
    defer { unsafe retained.release() }
    return try bits.borrow(body)
  }

  /// The client, retained. The caller holds its object.
  @inlinable var value: Listener { bits.borrow { $0 } }

  /// Calls and awaits `body` with the client. Returns nil if it was removed or deallocated.
  @inlinable
  nonisolated(nonsending) func withClient<Result, Failure: Error>(
    awaiting body: nonisolated(nonsending) (Listener) async throws(Failure) -> Result
  ) async throws(Failure) -> Result? {
    guard let client = load() else { return nil }
    defer { extendLifetime(client) }
    return try await body(value)
  }
}

/// The bits of a value that is not retained. Its type is named anew in each call: it must be the same one.
///
/// They fit in five words where the type is a class or an existential of one protocol. Otherwise they have memory of their
/// own, to which the first word points.
@usableFromInline @safe
struct Bits {
  @usableFromInline typealias Words = (UInt, UInt, UInt, UInt, UInt)

  @usableFromInline let words: Words

  @inlinable
  init<Value>(of value: Value) {
    var words: Words = (0, 0, 0, 0, 0)
    unsafe withUnsafeMutableBytes(of: &words) { words in
      unsafe withUnsafeBytes(of: value) { bits in
        if Self.fit(Value.self) { return unsafe words.copyMemory(from: bits) }
        let memory = UnsafeMutableRawBufferPointer.allocate(
          byteCount: bits.count, alignment: MemoryLayout<Value>.alignment)
        unsafe memory.copyMemory(from: bits)
        unsafe words.storeBytes(of: memory.baseAddress, as: UnsafeMutableRawPointer?.self)
      }
    }
    self.words = words
  }

  /// Frees what the bits have, once.
  @inlinable
  func deallocate<Value>(as type: Value.Type) {
    if !Self.fit(type) { unsafe UnsafeMutableRawPointer(bitPattern: words.0)?.deallocate() }
  }

  /// Calls `body` with the value in place. The caller holds the object that the bits refer to.
  @inlinable @inline(__always)
  func borrow<Value, Result, Failure: Error>(
    _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe withUnsafeBytes(of: words) { (bits) throws(Failure) in
      let address =
        unsafe Self.fit(Value.self)
        ? bits.baseAddress : UnsafeRawPointer(bitPattern: words.0)
      return unsafe try address.unsafelyUnwrapped.assumingMemoryBound(to: Borrowed<Value>.self)
        .pointee.borrow(body)
    }
  }

  @inlinable
  static func fit<Value>(_ type: Value.Type) -> Bool {
    MemoryLayout<Value>.size <= MemoryLayout<Words>.size
  }
}

// MARK: - In arrays

@usableFromInline typealias Boxes = ContiguousArray<WeakBox>

extension ContiguousArray<WeakBox> {
  /// Calls `body` with the box at a place, without retaining it. The array has this place.
  @inlinable @inline(__always)
  func borrow<Result, Failure: Error>(
    _ index: Int, _ body: (WeakBox) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { extendLifetime(self) }
    let boxes = unsafe withUnsafeBufferPointer { boxes in
      unsafe UnsafeRawPointer(boxes.baseAddress).unsafelyUnwrapped
        .assumingMemoryBound(to: Borrowed<WeakBox>.self)
    }
    return try unsafe boxes[index].borrow(body)
  }

  /// The number of registered clients, including those of deallocated ones that no delivery has found.
  var registered: Int {
    indices.count { index in borrow(index) { box in box.isRegistered } }
  }
}
