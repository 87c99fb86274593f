/// Finds a client's box by the client's identity: a hash table of boxes with open addressing.
///
/// It holds the places of boxes in the list, in four bytes each, and no keys of its own, since each box knows
/// the identity that it stands for. Nothing is taken out of it: a box whose client was removed has the identity 0 and is passed over. A list that
/// has gathered many of those is replaced, and its index with it.
///
/// It grows step by step, because its list is locked meanwhile: a table that is full is followed by one
/// of twice the size, and each insertion moves a few entries of the old one. Until all are moved, both
/// are searched.
@safe
struct IdentityIndex {
  /// A list of no more boxes than this needs no table: it is searched from end to end.
  static var largestCountWithoutTable: Int { 16 }

  /// How many entries an insertion moves. A table's entries are moved by the time an eighth as many boxes
  /// have been inserted, long before the next one is full.
  private static var entriesPerStep: Int { 8 }

  /// An entry is 1 more than a box's place in the list, so that memory that was zeroed is free.
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
      _ identity: UInt, in boxes: SegmentDirectory, where matches: (WeakBox) -> Bool
    ) -> WeakBox? {
      var position = Hashing.place(of: identity, bits: bits)
      while let place = self[position] {
        let box = boxes[place]
        if box.identity == identity, matches(box) { return box }
        position = (position &+ 1) & (size &- 1)
      }
      return nil
    }

    /// Returns whether the box took an entry that was free.
    func insert(_ place: UInt32, of boxes: SegmentDirectory) -> Bool {
      let identity = boxes[place].identity
      // Vacated meanwhile by a walk: nobody will look for it.
      guard identity != 0 else { return false }
      var position = Hashing.place(of: identity, bits: bits)
      // The entry of a vacated box is as good as a free one: no search ends at it, and nothing is
      // looked for in it any more.
      while let other = self[position] {
        if boxes[other].identity == 0 {
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

  /// How many entries of the table are taken.
  private var taken = 0

  /// The table before, until all its entries have been moved.
  private var previous: Table?

  /// How many entries of the table before have been moved.
  private var moved = 0

  /// Whether there is a table, so that ``find(_:where:)`` answers for the whole list.
  var exists: Bool { table != nil }

  /// The first box with this identity that matches, or nil. A box may be asked twice, and none of another
  /// client is.
  func find(
    _ identity: UInt, in boxes: SegmentDirectory, where matches: (WeakBox) -> Bool
  ) -> WeakBox? {
    table?.find(identity, in: boxes, where: matches)
      ?? previous?.find(identity, in: boxes, where: matches)
  }

  /// Makes the first table, with room for `count` boxes.
  mutating func make(for count: Int) {
    var bits = 5
    while 3 << bits <= 4 * count { bits += 1 }
    table = Table(bits: bits)
  }

  /// Adds the box at a place, if there is a table. Returns how many entries it has looked after.
  mutating func insert(
    _ place: UInt32, of boxes: SegmentDirectory, droppingInto toRelease: inout [AnyObject]
  ) -> Int {
    guard let full = table else { return 0 }
    if taken * 4 >= full.size * 3 {
      // The steps of before are done, unless entries of vacated boxes took none.
      while previous != nil { _ = move(boxes, droppingInto: &toRelease) }
      previous = full
      moved = 0
      taken = 0
      table = Table(bits: full.bits + 1)
    }
    if table?.insert(place, of: boxes) == true { taken += 1 }
    return 1 + move(boxes, droppingInto: &toRelease)
  }

  /// Moves a few entries from the table before. Returns how many.
  private mutating func move(
    _ boxes: SegmentDirectory, droppingInto toRelease: inout [AnyObject]
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

  /// A table that is freed without the lock, since this takes long if it is large.
  private final class Garbage {
    private let memory: ZeroedMemory

    init(_ memory: ZeroedMemory) {
      self.memory = memory
    }

    deinit { memory.deallocate() }
  }
}
