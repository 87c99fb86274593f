import Synchronization

/// A place in a list: a weak reference to one client, and beside it the bits that a delivery needs.
///
/// In the list of a listener protocol, the bits are the client as its listener type, not owned.
///
/// A weak reference alone can only give the client back as an object, and to turn an object into
/// `any Listener` takes a dynamic cast, which costs more than everything else in a delivery. So the
/// box also keeps the existential that `add` was given, bit for bit. The reference in its bits is not
/// counted; they are used only while a strong reference, loaded from the weak one, is held, and they
/// are *borrowed* where they are, never copied: one weak load, one release, nothing else.
///
/// In the list of a topic, the bits are a reference to the client's *companion*, an object that lives
/// as long as the registration does: see ``ClientList/Companion``.
///
/// This type is a view of memory that a ``ClientSegment`` owns: the ``Header``, then the bits. It is
/// all of the package's unsafe handling of clients.
@usableFromInline
@safe
struct WeakBox {
  /// The part of a box that does not depend on the listener type.
  @usableFromInline
  struct Header: ~Copyable {
    @usableFromInline
    weak var client: AnyObject?

    /// The identity that the client is registered by; 0 from its removal on, for good. In the list of
    /// a listener protocol, it is the client's address.
    ///
    /// Atomic, because a notify that runs on another thread looks at it without a lock.
    @usableFromInline
    let identity: Atomic<UInt>

    #if DEBUG
      /// The actor that the client was added in, for the check of rule 10.
      @usableFromInline
      weak var home: (any Actor)?
    #endif
  }

  @usableFromInline
  let address: UnsafeMutableRawPointer

  @inlinable
  init(address: UnsafeMutableRawPointer) {
    unsafe self.address = address
  }

  @inlinable
  var header: UnsafeMutablePointer<Header> {
    unsafe address.assumingMemoryBound(to: Header.self)
  }

  /// The number of bytes before the bits of the listener.
  @inlinable
  static var headerSize: Int { MemoryLayout<Header>.stride }

  /// The number of bytes from one box to the next in a list of `Listener`.
  @inlinable
  static func stride<Listener>(for listener: Listener.Type) -> Int {
    headerSize + MemoryLayout<Listener>.stride
  }

  /// The identity of the client registered here; 0 if there is none any more.
  @inlinable
  var identity: UInt {
    unsafe header.pointee.identity.load(ordering: .relaxed)
  }
}

// MARK: - Borrowing the client

extension WeakBox {
  /// A strong reference to the client; nil if it was removed or is no longer alive.
  @inlinable
  @inline(__always)
  func load() -> AnyObject? {
    unsafe identity == 0 ? nil : header.pointee.client
  }

  /// The client as its listener type, to be borrowed while a reference from ``load()`` is held.
  @inlinable
  func bits<Listener>(as listener: Listener.Type) -> UnsafeMutablePointer<Borrowed<Listener>> {
    unsafe address.advanced(by: Self.headerSize).assumingMemoryBound(to: Borrowed.self)
  }

  /// Calls `body` with the client. Returns nil if it was removed or is no longer alive.
  @inlinable
  @inline(__always)
  func withClient<Listener, Result, Failure: Error>(
    as listener: Listener.Type, _ body: (Listener) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let client = load() else { return nil }
    // `consume` hands over the reference that the weak load returned, so that there is no second one.
    let reference = unsafe Unmanaged.passRetained(consume client)
    defer { unsafe reference.release() }
    return unsafe try bits(as: listener).pointee.borrow(body)
  }

  /// Calls and awaits `body` with the client. Returns nil if it was removed or is no longer alive.
  @inlinable
  nonisolated(nonsending) func withClient<Listener, Result, Failure: Error>(
    as listener: Listener.Type,
    awaiting body: nonisolated(nonsending) (Listener) async throws(Failure) -> Result
  ) async throws(Failure) -> Result? {
    guard let client = load() else { return nil }
    let reference = unsafe Unmanaged.passRetained(consume client)
    defer { unsafe reference.release() }
    return unsafe try await bits(as: listener).pointee.borrow(awaiting: body)
  }

  /// Whether the client is still alive; its removal does not matter.
  ///
  /// The client is held for a moment. If its last other owner lets go of it in that moment, its
  /// `deinit` runs here, so this is never called with a lock held unless the caller owns the client.
  var isAlive: Bool {
    unsafe header.pointee.client != nil
  }
}

// MARK: - Life of a box

extension WeakBox {
  /// Fills the box, and returns whether it now refers to the client: a client in its `deinit` can
  /// no longer be referred to weakly, and then the box stays empty memory.
  ///
  /// - Parameter bits: What to keep beside the client, of the size that the list was made for.
  func initialize(
    client: AnyObject, identity: UInt, bits: UnsafeRawPointer, size: Int, home: (any Actor)?
  ) -> Bool {
    #if DEBUG
      unsafe header.initialize(
        to: Header(client: client, identity: Atomic(identity), home: home))
    #else
      unsafe header.initialize(
        to: Header(client: client, identity: Atomic(identity)))
    #endif
    guard isAlive else {
      deinitialize()
      return false
    }
    // A copy of the bits is not a copy of the value: nothing is retained.
    unsafe address.advanced(by: Self.headerSize).copyMemory(from: bits, byteCount: size)
    return true
  }

  /// Moves a box to memory that holds none; this memory holds none afterwards.
  func move(to other: WeakBox, stride: Int) {
    unsafe other.header.moveInitialize(from: header, count: 1)
    unsafe other.address.advanced(by: Self.headerSize)
      .copyMemory(
        from: address.advanced(by: Self.headerSize), byteCount: stride - Self.headerSize)
  }

  /// Ends the registration; a notify under way sees it at once. Returns whether there was one.
  @discardableResult
  func vacate(countingIn counters: UnsafeMutablePointer<ClientGeneration.Counters>) -> Bool {
    guard unsafe header.pointee.identity.exchange(0, ordering: .relaxed) != 0 else { return false }
    unsafe counters.pointee.vacated.add(1, ordering: .relaxed)
    return true
  }

  /// Gives up the weak reference. The bits are left as they are: a companion is taken out first.
  func deinitialize() {
    unsafe header.deinitialize(count: 1)
  }
}

extension ObjectIdentifier {
  /// The object's address as a number; never 0.
  var address: UInt { UInt(bitPattern: self) }
}
