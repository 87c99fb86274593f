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
/// This type is a view of memory that a ``ClientSegment`` owns: the ``Reference``, the ``Header``, then the
/// bits. It is all of the package's unsafe handling of clients.
@usableFromInline
@safe
struct WeakBox {
  /// The weak reference. It stands apart from the header, so that it can be copied from box to box without a
  /// strong one.
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
    /// The client's address, by which it is found; 0 from its removal on, for good.
    ///
    /// Atomic, because a notify that runs on another thread looks at it without a lock. Relaxed, because
    /// nothing else is read by what it says: the box was published to the walk by the list's lock. It
    /// never becomes anything but 0, so that whoever has seen or heard of the removal sees 0 from then on.
    @usableFromInline
    let identity: Atomic<UInt>

    /// The registration's running number.
    ///
    /// It is written when the box is filled, and afterwards while no walk is under way here.
    var number: UInt64

    /// The address of the ``ClientGroup``, whose lowest bit says whether the group counts this box; 0 if
    /// there is no group. The generation keeps the group.
    ///
    /// Atomic, because a walk may vacate the box while the lock's holder copies it: whoever clears the bit
    /// is the one to pass the count on, or to count the box out.
    let groupBits: Atomic<UInt>

    /// The address of the next box of the same group. It is written while no walk gets this far.
    var nextInGroup: UnsafeMutableRawPointer?
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

  /// The number of bytes before the bits of the listener.
  @inlinable
  static var headerSize: Int { MemoryLayout<Reference>.stride + MemoryLayout<Header>.stride }

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

  /// The running number of the registration. A walk, or the list's lock, keeps it as it is.
  var number: UInt64 { unsafe header.pointee.number }
}

extension WeakBox: Equatable {
  @usableFromInline
  static func == (one: Self, other: Self) -> Bool { unsafe one.address == other.address }
}

// MARK: - Groups

extension WeakBox {
  private static var countedBit: UInt { 1 }

  /// The group that the client was added in.
  var group: ClientGroup? {
    unsafe groupReference?.takeUnretainedValue()
  }

  func isIn(_ group: ClientGroup) -> Bool {
    unsafe groupReference?.toOpaque() == Unmanaged.passUnretained(group).toOpaque()
  }

  /// Whether the client was added in no group.
  var isInNoGroup: Bool { unsafe groupReference == nil }

  private var groupReference: Unmanaged<ClientGroup>? {
    let bits = unsafe header.pointee.groupBits.load(ordering: .relaxed)
    let address = unsafe UnsafeRawPointer(bitPattern: bits & ~Self.countedBit)
    return unsafe address.map { unsafe .fromOpaque($0) }
  }

  /// Puts the box into a group that has counted it in, or into none.
  func setGroup(_ group: ClientGroup?) {
    unsafe header.pointee.groupBits.store(Self.groupBits(group), ordering: .relaxed)
  }

  fileprivate static func groupBits(_ group: ClientGroup?) -> UInt {
    guard let group else { return 0 }
    return unsafe UInt(bitPattern: Unmanaged.passUnretained(group).toOpaque()) | countedBit
  }

  /// Gives up the box's share in the count of its group. Returns whether it had one: then it is the
  /// caller's, to be passed on or counted out.
  ///
  /// The bit alone decides, in one order for all threads; nothing else is read by what it says.
  func takeCount() -> Bool {
    guard unsafe header.pointee.groupBits.load(ordering: .relaxed) != 0 else { return false }
    let (old, _) = unsafe header.pointee.groupBits.bitwiseAnd(
      ~Self.countedBit, ordering: .relaxed)
    return old & Self.countedBit != 0
  }

  /// Counts the box out of its group, once.
  func countOut() {
    if takeCount() { group?.countOut() }
  }
}

// MARK: - Borrowing the client

extension WeakBox {
  /// A strong reference to the client; nil if it was removed or is no longer alive.
  @inlinable
  @inline(__always)
  func load() -> AnyObject? {
    unsafe identity == 0 ? nil : reference.pointee.client
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
    unsafe reference.pointee.client != nil
  }
}

// MARK: - Life of a box

extension WeakBox {
  /// Fills the box, and returns whether it now refers to the client: a client in its `deinit` can
  /// no longer be referred to weakly, and then the box stays empty memory.
  ///
  /// - Parameters:
  ///   - number: The registration's running number.
  ///   - group: A group that has counted the box in.
  ///   - bits: What to keep beside the client, of the size that the list was made for.
  func initialize(
    client: AnyObject, number: UInt64, group: ClientGroup?, bits: UnsafeRawPointer, size: Int
  ) -> Bool {
    unsafe reference.initialize(to: Reference(client: client))
    unsafe initializeRest(
      identity: ObjectIdentifier(client).address, number: number, group: group, bits: bits,
      size: size)
    guard isAlive else {
      deinitialize()
      return false
    }
    return true
  }

  /// Fills the box with a copy of another one, whose client had this identity and may be dead.
  func initialize(copyOf other: WeakBox, identity: UInt, size: Int) {
    unsafe reference.initialize(from: other.reference, count: 1)
    unsafe initializeRest(
      identity: identity, number: other.number, group: other.group,
      bits: other.address.advanced(by: Self.headerSize), size: size)
  }

  private func initializeRest(
    identity: UInt, number: UInt64, group: ClientGroup?, bits: UnsafeRawPointer, size: Int
  ) {
    unsafe header.initialize(
      to: Header(
        identity: Atomic(identity), number: number,
        groupBits: Atomic(Self.groupBits(group)), nextInGroup: nil))
    // A copy of the bits is not a copy of the value: nothing is retained.
    unsafe address.advanced(by: Self.headerSize).copyMemory(from: bits, byteCount: size)
  }

  /// Moves a box to memory that holds none; this memory holds none afterwards.
  func move(to other: WeakBox, stride: Int) {
    unsafe other.reference.moveInitialize(from: reference, count: 1)
    unsafe other.header.moveInitialize(from: header, count: 1)
    unsafe other.address.advanced(by: Self.headerSize)
      .copyMemory(
        from: address.advanced(by: Self.headerSize), byteCount: stride - Self.headerSize)
  }

  /// Ends the registration; a notify under way sees it at once. Returns whether there was one.
  @discardableResult
  func vacate(countingIn counters: UnsafeMutablePointer<ClientGeneration.Counters>) -> Bool {
    guard unsafe header.pointee.identity.exchange(0, ordering: .relaxed) != 0 else { return false }
    unsafe counters.pointee.vacated.wrappingAdd(1, ordering: .relaxed)
    countOut()
    return true
  }

  /// Gives up the weak reference. The bits are left as they are: a companion is taken out first.
  func deinitialize() {
    unsafe reference.deinitialize(count: 1)
    unsafe header.deinitialize(count: 1)
  }
}

extension ObjectIdentifier {
  /// The object's address as a number; never 0.
  var address: UInt { UInt(bitPattern: self) }
}
