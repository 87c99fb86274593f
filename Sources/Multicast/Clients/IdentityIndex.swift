/// Finds a client's box by the client's identity: a hash table of boxes with open addressing.
///
/// It holds no keys of its own, since each box knows the identity that it stands for, and nothing is
/// taken out of it: a box whose client was removed has the identity 0 and is passed over. A list that
/// has gathered many of those is replaced, and its index with it.
///
/// It grows step by step, because its list is locked meanwhile: a table that is full is followed by one
/// of twice the size, and each insertion moves a few places of the old one. Until all are moved, both
/// are searched.
@safe
struct IdentityIndex {
  /// A list of no more boxes than this needs no table: it is searched from end to end.
  static var largestCountWithoutTable: Int { 16 }

  /// How many places an insertion moves. A table's places are moved by the time an eighth as many boxes
  /// have been inserted, long before the next one is full.
  private static var placesPerStep: Int { 8 }

  /// An address in memory that was zeroed is nil until a box is written there.
  @safe
  private struct Table {
    let memory: ZeroedMemory
    let bits: Int

    init(bits: Int) {
      self.bits = bits
      memory = ZeroedMemory(byteCount: MemoryLayout<UInt>.stride << bits)
    }

    var size: Int { 1 << bits }

    subscript(place: Int) -> WeakBox? {
      get {
        let addresses = unsafe memory.address.assumingMemoryBound(
          to: UnsafeMutableRawPointer?.self)
        return unsafe addresses[place].map { unsafe WeakBox(address: $0) }
      }
      nonmutating set {
        let addresses = unsafe memory.address.assumingMemoryBound(
          to: UnsafeMutableRawPointer?.self)
        unsafe addresses[place] = newValue?.address
      }
    }

    func find(_ identity: UInt, where matches: (WeakBox) -> Bool) -> WeakBox? {
      var place = Hashing.place(of: identity, bits: bits)
      while let box = self[place] {
        if box.identity == identity, matches(box) { return box }
        place = (place &+ 1) & (size &- 1)
      }
      return nil
    }

    /// Returns whether the box took a place that was free.
    func insert(_ box: WeakBox) -> Bool {
      let identity = box.identity
      // Vacated meanwhile by a walk: nobody will look for it.
      guard identity != 0 else { return false }
      var place = Hashing.place(of: identity, bits: bits)
      // The place of a vacated box is as good as a free one: no search ends at it, and nothing is
      // looked for in it any more.
      while let other = self[place] {
        if other.identity == 0 {
          self[place] = box
          return false
        }
        place = (place &+ 1) & (size &- 1)
      }
      self[place] = box
      return true
    }
  }

  private var table: Table?

  /// How many places of the table are taken.
  private var taken = 0

  /// The table before, until all its places have been moved.
  private var previous: Table?

  /// How many places of the table before have been moved.
  private var moved = 0

  /// Whether there is a table, so that ``find(_:where:)`` answers for the whole list.
  var exists: Bool { table != nil }

  /// The first box with this identity that matches, or nil. A box may be asked twice, and none of another
  /// client is.
  func find(_ identity: UInt, where matches: (WeakBox) -> Bool) -> WeakBox? {
    table?.find(identity, where: matches) ?? previous?.find(identity, where: matches)
  }

  /// Makes the first table.
  mutating func make() {
    table = Table(bits: 5)
  }

  /// Adds a box, if there is a table. Returns how many places it has looked after.
  mutating func insert(_ box: WeakBox, droppingInto garbage: inout [AnyObject]) -> Int {
    guard let full = table else { return 0 }
    if taken * 4 >= full.size * 3 {
      // The steps of before are done, unless places of vacated boxes took none.
      while previous != nil { _ = move(droppingInto: &garbage) }
      previous = full
      moved = 0
      taken = 0
      table = Table(bits: full.bits + 1)
    }
    if table?.insert(box) == true { taken += 1 }
    return 1 + move(droppingInto: &garbage)
  }

  /// Moves a few places from the table before. Returns how many.
  private mutating func move(droppingInto garbage: inout [AnyObject]) -> Int {
    guard let table, let previous else { return 0 }
    let end = min(moved + Self.placesPerStep, previous.size)
    for place in moved..<end {
      if let box = previous[place], table.insert(box) { taken += 1 }
    }
    defer { moved = end }
    if end == previous.size {
      garbage.append(Garbage(previous.memory))
      self.previous = nil
    }
    return end - moved
  }

  func free() {
    table?.memory.deallocate()
    previous?.memory.deallocate()
  }

  /// A table that is freed without the lock, since this takes long if it is large.
  private final class Garbage {
    private let memory: ZeroedMemory

    init(_ memory: ZeroedMemory) {
      self.memory = memory
    }

    deinit { memory.deallocate() }
  }
}
