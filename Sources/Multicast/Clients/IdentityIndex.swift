/// Finds boxes by their clients' identities: a hash table with open addressing.
///
/// An entry is a box's index in the list, in four bytes. The key is in the box. Nothing is removed from the
/// table. A vacated box has the identity 0 and is skipped. A list with many of them is replaced, together
/// with its index.
///
/// The table grows in steps, because the list is locked meanwhile. A full table is followed by one of twice
/// the size, and each insertion moves a few entries. Until all are moved, both tables are searched.
@safe
struct IdentityIndex {
  /// The largest list that is searched linearly, without a table.
  static var largestCountWithoutTable: Int { 16 }

  /// The number of entries that an insertion moves. All are moved after an eighth as many insertions, long
  /// before the new table is full.
  private static var entriesPerStep: Int { 8 }

  /// Entries are indices plus 1, so zeroed memory is free.
  @safe
  private struct Table {
    let memory: ZeroedMemory
    let bits: Int

    init(bits: Int) {
      self.bits = bits
      memory = ZeroedMemory(byteCount: MemoryLayout<UInt32>.stride << bits)
    }

    var size: Int { 1 << bits }

    subscript(position: Int) -> UInt32? {
      get {
        let entry = unsafe memory.address.assumingMemoryBound(to: UInt32.self)[position]
        return entry == 0 ? nil : entry - 1
      }
      nonmutating set {
        unsafe memory.address.assumingMemoryBound(to: UInt32.self)[position] =
          newValue.map { $0 + 1 } ?? 0
      }
    }

    func find(
      _ identity: UInt, in boxes: ClientSegments, where matches: (WeakBox) -> Bool
    ) -> WeakBox? {
      var position = Hashing.place(of: identity, bits: bits)
      while let place = self[position] {
        let box = boxes[Int(place)]
        if box.identity == identity, matches(box) { return box }
        position = (position &+ 1) & (size &- 1)
      }
      return nil
    }

    /// Returns whether the box took a free entry.
    func insert(_ place: UInt32, of boxes: ClientSegments) -> Bool {
      let identity = boxes[Int(place)].identity
      // A walk has vacated the box.
      guard identity != 0 else { return false }
      var position = Hashing.place(of: identity, bits: bits)
      // A vacated box's entry can be reused, because no search ends at it or looks for it.
      while let other = self[position] {
        if boxes[Int(other)].identity == 0 {
          self[position] = place
          return false
        }
        position = (position &+ 1) & (size &- 1)
      }
      self[position] = place
      return true
    }
  }

  private var table: Table?
  private var taken = 0

  /// The previous table, until all its entries have been moved.
  private var previous: Table?

  private var moved = 0

  /// Whether there is a table, which then covers the whole list.
  var exists: Bool { table != nil }

  /// The first matching box with this identity. `matches` may receive a box twice, and no box of another
  /// identity.
  func find(
    _ identity: UInt, in boxes: ClientSegments, where matches: (WeakBox) -> Bool
  ) -> WeakBox? {
    table?.find(identity, in: boxes, where: matches)
      ?? previous?.find(identity, in: boxes, where: matches)
  }

  mutating func make(for count: Int) {
    var bits = 5
    while 3 << bits <= 4 * count { bits += 1 }
    table = Table(bits: bits)
  }

  /// Adds a box, if there is a table. Returns the number of entries processed.
  mutating func insert(
    _ place: UInt32, of boxes: ClientSegments, droppingInto toRelease: inout [AnyObject]
  ) -> Int {
    guard let full = table else { return 0 }
    if taken * 4 >= full.size * 3 {
      // Usually all have moved by now. Entries of vacated boxes that were reused took no step.
      while previous != nil { _ = move(boxes, droppingInto: &toRelease) }
      previous = full
      moved = 0
      taken = 0
      table = Table(bits: full.bits + 1)
    }
    if table?.insert(place, of: boxes) == true { taken += 1 }
    return 1 + move(boxes, droppingInto: &toRelease)
  }

  /// Moves a few entries from the previous table. Returns their number.
  private mutating func move(
    _ boxes: ClientSegments, droppingInto toRelease: inout [AnyObject]
  ) -> Int {
    guard let table, let previous else { return 0 }
    let end = min(moved + Self.entriesPerStep, previous.size)
    for position in moved..<end {
      if let place = previous[position], table.insert(place, of: boxes) { taken += 1 }
    }
    defer { moved = end }
    if end == previous.size {
      toRelease.append(Garbage(previous.memory))
      self.previous = nil
    }
    return end - moved
  }

  func free() {
    table?.memory.deallocate()
    previous?.memory.deallocate()
  }

  /// Frees a table with the lock released, because a large one takes long.
  private final class Garbage {
    private let memory: ZeroedMemory

    init(_ memory: ZeroedMemory) {
      self.memory = memory
    }

    deinit { memory.deallocate() }
  }
}
