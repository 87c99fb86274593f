/// A box of a list: a weak reference to a client, and the bits that a delivery needs.
///
/// In the list of a listener protocol, the bits are the client's existential as `add` received it, not
/// retained. With a weak reference alone, each call would need a dynamic cast to `any Listener`, the most
/// expensive part of a delivery. The bits are used only while a strong reference loaded from the weak one is
/// held. They are borrowed in place, so a call costs one weak load and one release.
///
/// In the list of a topic, the bits are a reference to the client's companion: see ``ClientList/Companion``.
///
/// A box is a view of a ``ClientSegment``'s memory: the ``Reference``, the ``Header``, then the bits. All
/// unsafe handling of clients is here.
@usableFromInline
@safe
struct WeakBox {
  /// The weak reference, apart from the header, so it can be copied from box to box without a strong one.
  @usableFromInline
  @safe
  struct Reference {
    @usableFromInline
    weak var client: AnyObject?
  }

  /// The part of a box that does not depend on the listener type.
  @usableFromInline
  @safe
  struct Header: ~Copyable {
    /// The client's address; 0 after its removal.
    ///
    /// Walks on other threads read it without a lock. Relaxed, because the list's lock has published the box,
    /// and the value orders no other memory. It changes once, to 0, so a thread that has seen the removal
    /// sees 0 from then on.
    @usableFromInline
    let identity: Atomic<UInt>

    /// The registration's number.
    let number: UInt64

    /// The address of the ``Residents``; 0 for a client without a home. The lowest bit tells whether they
    /// count this box. The generation keeps them alive.
    ///
    /// Atomic, because a walk may vacate the box while the lock's holder copies it. The thread that clears
    /// the bit passes the count on or counts the box out.
    let residentBits: Atomic<UInt>

    /// The address of the next box of the same home. It is written while no walk reaches it.
    var nextResident: UnsafeMutableRawPointer?
  }

  @usableFromInline
  let address: UnsafeMutableRawPointer

  @inlinable
  init(address: UnsafeMutableRawPointer) {
    unsafe self.address = address
  }

  @inlinable
  var reference: UnsafeMutablePointer<Reference> {
    unsafe address.assumingMemoryBound(to: Reference.self)
  }

  @inlinable
  var header: UnsafeMutablePointer<Header> {
    unsafe address.advanced(by: MemoryLayout<Reference>.stride)
      .assumingMemoryBound(to: Header.self)
  }

  /// The size of the part before the bits.
  @inlinable
  static var headerSize: Int { MemoryLayout<Reference>.stride + MemoryLayout<Header>.stride }

  /// The distance of boxes in a list of `Listener`.
  @inlinable
  static func stride<Listener>(for listener: Listener.Type) -> Int {
    headerSize + MemoryLayout<Listener>.stride
  }

  /// The client's identity; 0 if it was removed.
  @inlinable
  var identity: UInt {
    unsafe header.pointee.identity.load(ordering: .relaxed)
  }

  /// The registration's number. Stable during a walk or with the list's lock held.
  var number: UInt64 { unsafe header.pointee.number }
}

extension WeakBox: Equatable {
  @usableFromInline
  static func == (one: Self, other: Self) -> Bool { unsafe one.address == other.address }
}

// MARK: - Homes

extension WeakBox {
  private static var countedBit: UInt { 1 }

  var residents: Residents? {
    unsafe residentReference?.takeUnretainedValue()
  }

  func isOne(of residents: Residents) -> Bool {
    unsafe residentReference?.toOpaque() == Unmanaged.passUnretained(residents).toOpaque()
  }

  var hasHome: Bool { unsafe residentReference != nil }

  private var residentReference: Unmanaged<Residents>? {
    let bits = unsafe header.pointee.residentBits.load(ordering: .relaxed)
    let address = unsafe UnsafeRawPointer(bitPattern: bits & ~Self.countedBit)
    return unsafe address.map { unsafe .fromOpaque($0) }
  }

  /// Gives up the box's share in the count of its home. Returns whether it had one, which the caller must
  /// pass on or count out.
  ///
  /// Relaxed: only the bit matters, and a single atomic has one order for all threads.
  func takeCount() -> Bool {
    guard unsafe header.pointee.residentBits.load(ordering: .relaxed) != 0 else { return false }
    let (old, _) = unsafe header.pointee.residentBits.bitwiseAnd(
      ~Self.countedBit, ordering: .relaxed)
    return old & Self.countedBit != 0
  }

  fileprivate static func residentBits(_ residents: Residents?) -> UInt {
    guard let residents else { return 0 }
    return unsafe UInt(bitPattern: Unmanaged.passUnretained(residents).toOpaque()) | countedBit
  }

  func countOut() {
    if takeCount() { residents?.countOut() }
  }
}

// MARK: - Borrowing the client

extension WeakBox {
  /// A strong reference to the client; nil if it was removed or deallocated.
  @inlinable
  @inline(__always)
  func load() -> AnyObject? {
    unsafe identity == 0 ? nil : reference.pointee.client
  }

  /// The client as its listener type. Borrow it only while holding a reference from ``load()``.
  @inlinable
  func bits<Listener>(as listener: Listener.Type) -> UnsafeMutablePointer<Borrowed<Listener>> {
    unsafe address.advanced(by: Self.headerSize).assumingMemoryBound(to: Borrowed.self)
  }

  /// Calls `body` with the client. Returns nil if it was removed or deallocated.
  @inlinable
  @inline(__always)
  func withClient<Listener, Result, Failure: Error>(
    as listener: Listener.Type, _ body: (Listener) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let client = load() else { return nil }
    // `consume` passes on the reference of the weak load, so there is no second one.
    let reference = unsafe Unmanaged.passRetained(consume client)
    defer { unsafe reference.release() }
    return unsafe try bits(as: listener).pointee.borrow(body)
  }

  /// Calls and awaits `body` with the client. Returns nil if it was removed or deallocated.
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

  /// Whether the client is alive, removed or not.
  ///
  /// Retains the client for an instant and may release it last. With a lock held, the caller must hold the
  /// client.
  var isAlive: Bool {
    unsafe reference.pointee.client != nil
  }
}

// MARK: - Life of a box

extension WeakBox {
  /// Initializes the box. Returns false if the client is being deinitialized and cannot be held weakly. The
  /// box is then uninitialized memory.
  ///
  /// - Parameters:
  ///   - residents: The clients of its home, who have counted the box in.
  ///   - bits: The bits to copy, `size` bytes.
  func initialize(
    client: AnyObject, number: UInt64, residents: Residents?, bits: UnsafeRawPointer, size: Int
  ) -> Bool {
    unsafe reference.initialize(to: Reference(client: client))
    unsafe initializeRest(
      identity: ObjectIdentifier(client).address, number: number, residents: residents, bits: bits,
      size: size)
    guard isAlive else {
      deinitialize()
      return false
    }
    return true
  }

  /// Initializes the box with a copy of another one, whose client had this identity and may be deallocated.
  func initialize(copyOf other: WeakBox, identity: UInt, size: Int) {
    unsafe reference.initialize(from: other.reference, count: 1)
    unsafe initializeRest(
      identity: identity, number: other.number, residents: other.residents,
      bits: other.address.advanced(by: Self.headerSize), size: size)
  }

  private func initializeRest(
    identity: UInt, number: UInt64, residents: Residents?, bits: UnsafeRawPointer, size: Int
  ) {
    unsafe header.initialize(
      to: Header(
        identity: Atomic(identity), number: number,
        residentBits: Atomic(Self.residentBits(residents)), nextResident: nil))
    // Copies bits, not a value: nothing is retained.
    unsafe address.advanced(by: Self.headerSize).copyMemory(from: bits, byteCount: size)
  }

  /// Moves the box to uninitialized memory, and leaves such memory.
  func move(to other: WeakBox, stride: Int) {
    unsafe other.reference.moveInitialize(from: reference, count: 1)
    unsafe other.header.moveInitialize(from: header, count: 1)
    unsafe other.address.advanced(by: Self.headerSize)
      .copyMemory(
        from: address.advanced(by: Self.headerSize), byteCount: stride - Self.headerSize)
  }

  /// Ends the registration. Active walks see that at once. Returns false if it had ended.
  @discardableResult
  func vacate(countingIn counters: UnsafeMutablePointer<WalkCounts.Counters>) -> Bool {
    guard unsafe header.pointee.identity.exchange(0, ordering: .relaxed) != 0 else { return false }
    unsafe counters.pointee.vacated.wrappingAdd(1, ordering: .relaxed)
    countOut()
    return true
  }

  /// Destroys the weak reference. Take the companion before.
  func deinitialize() {
    unsafe reference.deinitialize(count: 1)
    unsafe header.deinitialize(count: 1)
  }
}

extension ObjectIdentifier {
  /// The object's address; never 0.
  var address: UInt { UInt(bitPattern: self) }
}
