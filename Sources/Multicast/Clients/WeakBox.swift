import MulticastPlatform

/// A registration: a weak reference to a client, and the client's home.
///
/// A list shares its boxes with rosters and deliveries. A removal *empties* the box: it stores 0 as the client's address, which
/// all of them see. A box that the list has dropped lives as long as a roster, a delivery, a search or a token holds it.
///
/// `@unchecked`, because a weak reference is a variable before Swift 6.3. Only `init` assigns it, and any thread may load it.
/// A client need not be `Sendable`, because the box refers to it and does not call it.
@usableFromInline
class WeakBox: AtomicWord, @unchecked Sendable {
  @usableFromInline let reference: WeakReference

  /// The client's home; nil for a client without a home. The box owns it.
  final let home: Home?

  /// The client's class, for reports from threads that must not load the client.
  final let type: AnyClass

  #if DEBUG
    /// The call of `add` in an actor or on the main thread that gave the client no home; nil for other clients.
    ///
    /// It is set before the box is registered, and constant from then on.
    final var addWithoutHome: AddWithoutHome?

    /// Whether the client is its own home. A constant, because another thread may remove a client while it is called.
    final let isOwnHome: Bool
  #endif

  @usableFromInline
  init(_ client: AnyObject, at home: Home?) {
    reference = WeakReference(client)
    self.home = home
    type = Swift.type(of: client)
    #if DEBUG
      isOwnHome = home?.address == ObjectIdentifier(client).address
    #endif
    super.init(word: UInt64(ObjectIdentifier(client).address))
  }

  /// A hash of the owner and the id of a handler, by which the list finds the box; 0 if it has no id. Several boxes may have the
  /// same hash.
  var idHash: UInt { 0 }

  /// The client's address; 0 once the client is removed. It is the word of the superclass.
  ///
  /// Relaxed, because a lock has published the box, and the value orders no other memory. It changes once, to 0, so a thread
  /// that has seen the removal sees 0 from then on.
  @inlinable final var identity: UInt {
    unsafe withWord { word in
      unsafe UInt(truncatingIfNeeded: multicast_load(word, AtomicOrdering.relaxed.rawValue))
    }
  }

  final var isRegistered: Bool { identity != 0 }

  /// Returns a strong reference to the client; nil if the client was removed or deallocated.
  ///
  /// Call this in the client's home, if it has one, and with no lock held; for `post(awaiting:)`, in the task that awaits the
  /// client. If the last owner releases the client in the meantime, the client is destroyed when you release the reference.
  @inlinable @inline(__always)
  final func load() -> AnyObject? { identity == 0 ? nil : reference.client }

  /// Whether the client is alive, even if it was removed.
  ///
  /// With a lock held, call this only if you hold the client, or a new object at the address of a client that was deallocated.
  /// Otherwise the client might be destroyed here.
  final var isAlive: Bool { reference.client != nil }

  /// Ends the registration, which active deliveries see, too. Returns false if it had ended already.
  ///
  /// Relaxed: see ``identity``.
  final func empty() -> Bool {
    unsafe withWord { word in unsafe multicast_exchange(word, 0, AtomicOrdering.relaxed.rawValue) }
      != 0
  }

  /// Releases what the box holds for the client, after the registration has ended. Call this with no lock held, because that
  /// runs client code.
  func releaseContents() {}
}

// MARK: - For deliveries and reports

extension WeakBox {
  /// Whether the client may be loaded on this thread, because it has no home, its home is here, or its home has ended. Call
  /// this with no lock held.
  final var mayBeLoaded: Bool { home?.mayLoad() ?? true }

  /// Whether the client is registered and, if it may be loaded here, alive. Call this with no lock held.
  final var mayBeAlive: Bool { isRegistered && (!mayBeLoaded || load() != nil) }

  /// The type that reports name: the client's, or the one that an owner represents.
  final var shownType: any Any.Type { (type as? any LibraryOwner.Type)?.shownType ?? type }

  /// The same as ``shownType``, but nil if the client was removed or deallocated. Call this in the client's home, if it has
  /// one.
  final var reportedType: (any Any.Type)? { load().map { _ in shownType } }
}

#if DEBUG
  /// A call of `add` in an actor or on the main thread, which the compiler does not know to be there. It is an object, because
  /// most boxes contain none, and a pointer is smaller than a call site.
  final class AddWithoutHome: Sendable {
    let site: CallSite

    /// The executor of the actor; 0 on the main thread.
    private let executor: UInt

    /// Returns nil outside all actors.
    init?(at site: CallSite) {
      let isOnMain = MainActor.presence() == .here
      executor = isOnMain ? 0 : multicast_current_executor()
      if !isOnMain, executor == 0 { return nil }
      self.site = site
    }

    /// Whether this thread runs where the client was added. If that actor has been deallocated, another one may have its address.
    var isHere: Bool {
      executor == 0 ? MainActor.presence() == .here : multicast_current_executor() == executor
    }
  }
#endif

/// An owner of a handler that the library makes in place of an object of the user, such as the owner of a stream of messages.
/// Its own handler may keep it alive, so it is not reported as a leak.
package protocol LibraryOwner {
  /// The type that reports name instead of the owner's class.
  static var shownType: any Any.Type { get }
}

/// A weak reference. It is not copyable, so that the compiler loads it where it is.
@usableFromInline struct WeakReference: ~Copyable {
  @usableFromInline weak var client: AnyObject?

  init(_ client: AnyObject) {
    self.client = client
  }
}

/// The box of a client of a listener protocol.
///
/// A call needs the client as `any Listener`. A weak reference only yields an `AnyObject`, and a dynamic cast of that in each
/// call would be the most expensive part of a delivery. So `add` stores the bits of the existential that it receives, without
/// retaining the client. They become invalid when the client is deallocated. Therefore they are used only while a strong
/// reference, loaded from the weak one, keeps the client alive, and they are borrowed where they are. A call costs one weak
/// load and one release.
///
/// `@unchecked`, because the superclass is. The bits are a constant, and they are read only where the client may be called.
@usableFromInline
final class ClientBox<Listener>: WeakBox, @unchecked Sendable {
  @usableFromInline let bits: Bits

  @inlinable
  init(_ client: Listener, _ object: AnyObject, at home: Home?) {
    bits = Bits(of: client)
    super.init(object, at: home)
  }

  deinit { bits.deallocate(as: Listener.self) }

  /// Calls `body` with the client. Returns nil if the client was removed or deallocated. Call this in the client's home.
  @inlinable @inline(__always)
  func withClient<Result, Failure: Error>(
    _ body: (Listener) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let client = load() else { return nil }
    // The weak load has retained the client. `consume` passes that reference on, so that the client is not retained again.
    let retained = unsafe Unmanaged.passRetained(consume client)
    defer { unsafe retained.release() }
    return try bits.borrow(body)
  }

  /// The client, retained. Read this only while you hold the client's object.
  @inlinable var value: Listener { bits.borrow { $0 } }

  /// Calls and awaits `body` with the client, which is retained meanwhile. Returns nil if it was removed or deallocated.
  @inlinable
  nonisolated(nonsending) func withClient<Result, Failure: Error>(
    awaiting body: nonisolated(nonsending) (Listener) async throws(Failure) -> Result
  ) async throws(Failure) -> Result? {
    guard let client = load() else { return nil }
    defer { extendLifetime(client) }
    return try await body(value)
  }
}

/// A copy of the bits of a value, such as a reference or an existential, that does not retain what the value refers to.
///
/// Swift has `Unmanaged` for a reference to a class, but nothing for an existential like `any UserProtocol`, which contains
/// pointers to its type and functions beside the reference. This copies the memory of such a value, byte for byte. The copy
/// equals the original as long as the object lives, so the caller must hold the object whenever it borrows the value. Nothing
/// is released with the copy.
///
/// The type of the value is not part of the type of the bits. Each call names it, and it must be the same one each time.
/// ``ClientBox`` does that with its generic argument.
///
/// A value of up to five words is stored in place, such as a reference or an existential of one protocol. A longer value is in
/// memory that is allocated for it, to which the first word points. The owner frees that with ``deallocate(as:)``.
@usableFromInline @safe
struct Bits {
  @usableFromInline typealias Words = (UInt, UInt, UInt, UInt, UInt)

  @usableFromInline let words: Words

  @inlinable
  init<Value>(of value: Value) {
    var words: Words = (0, 0, 0, 0, 0)
    unsafe withUnsafeMutableBytes(of: &words) { words in
      unsafe withUnsafeBytes(of: value) { bits in
        if Self.fits(Value.self) { return unsafe words.copyMemory(from: bits) }
        let memory = UnsafeMutableRawBufferPointer.allocate(
          byteCount: bits.count, alignment: MemoryLayout<Value>.alignment)
        unsafe memory.copyMemory(from: bits)
        unsafe words.storeBytes(of: memory.baseAddress, as: UnsafeMutableRawPointer?.self)
      }
    }
    self.words = words
  }

  /// Frees the memory of a value that does not fit in the words. Call this once.
  @inlinable
  func deallocate<Value>(as type: Value.Type) {
    if !Self.fits(type) { unsafe UnsafeMutableRawPointer(bitPattern: words.0)?.deallocate() }
  }

  /// Calls `body` with the value, without copying it. Hold the object that the bits refer to until this returns.
  @inlinable @inline(__always)
  func borrow<Value, Result, Failure: Error>(
    _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe withUnsafeBytes(of: words) { (bits) throws(Failure) in
      let address =
        unsafe Self.fits(Value.self)
        ? bits.baseAddress : UnsafeRawPointer(bitPattern: words.0)
      return unsafe try address.unsafelyUnwrapped.assumingMemoryBound(to: Borrowed<Value>.self)
        .pointee.borrow(body)
    }
  }

  /// Whether the bits of a type fit in the words.
  @inlinable
  static func fits<Value>(_ type: Value.Type) -> Bool {
    MemoryLayout<Value>.size <= MemoryLayout<Words>.size
  }
}

// MARK: - In arrays

@usableFromInline typealias Boxes = ContiguousArray<WeakBox>

extension ContiguousArray<WeakBox> {
  /// Calls `body` with the box at an index, without retaining the box, because the array owns it. The index is not checked.
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

  /// The number of registered clients, including deallocated ones that no delivery or search has found.
  var registered: Int {
    indices.count { index in borrow(index) { box in box.isRegistered } }
  }
}
