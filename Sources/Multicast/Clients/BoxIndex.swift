/// Finds the boxes of a long list by a key: a hash table with open addressing.
///
/// A list uses two of these. One finds the boxes of a client by the client's address, the other finds handlers by
/// ``WeakBox/idHash``. The caller passes the list's array of boxes to each method, and holds the list's lock.
///
/// An entry is the index of a box in that array, in four bytes. Several boxes with the same key share one entry: they form a
/// chain that begins with the last of them, so that they do not lengthen the search for other keys. Nothing is removed from the
/// table. A search skips empty boxes. If a list contains many of them, the list is compacted, which makes a new table.
struct BoxIndex {
  /// The number of boxes up to which a list is searched linearly, without a table.
  static var largestCountWithoutTable: Int { 16 }

  /// Whether boxes are found by the addresses of their clients. Otherwise they are found by ``WeakBox/idHash``.
  private let isByClient: Bool

  /// The indices of boxes plus 1; 0 for a free entry. The number of entries is a power of two.
  private var entries: ContiguousArray<UInt32> = []

  /// For each box, the entry of the next box of its chain, which was registered before it; 0 for the end of the chain. Empty if
  /// there is no chain of several boxes, and perhaps shorter than the list.
  private var earlier: ContiguousArray<UInt32> = []

  init(byClient isByClient: Bool) { self.isByClient = isByClient }

  /// The last registered box with this key for which `body` returns true.
  func last(
    _ key: UInt, in boxes: Boxes, where body: (WeakBox) -> Bool = { _ in true }
  ) -> WeakBox? {
    if entries.isEmpty {
      let index = boxes.indices.last { self.key(at: $0, in: boxes) == key && body(boxes[$0]) }
      return index.map { boxes[$0] }
    }
    // The entry points to a registered box, unless all boxes of the chain are empty: see ``unlink(_:in:)``.
    let (position, isFound) = position(of: key, in: boxes)
    var index = isFound ? Int(entries[position]) - 1 : -1
    while index >= 0 {
      if self.key(at: index, in: boxes) == key, body(boxes[index]) { return boxes[index] }
      index = before(index)
    }
    return nil
  }

  /// The registered boxes with this key, beginning with the last one.
  func all(_ key: UInt, in boxes: Boxes) -> Boxes {
    var found = Boxes()
    _ = last(key, in: boxes) { box in
      found.append(box)
      return false
    }
    return found
  }

  /// Adds the last box of the list, unless its key is 0, or the list needs no table.
  mutating func insertLast(of boxes: Boxes) {
    let last = boxes.count - 1
    if last < Self.largestCountWithoutTable { return }
    if boxes.count * 4 < entries.count * 3 { return insert(last, of: boxes) }
    entries = ContiguousArray(
      repeating: 0, count: 1 << (Int.bitWidth - (2 * last).leadingZeroBitCount))
    earlier = []
    for index in boxes.indices { insert(index, of: boxes) }
  }

  private mutating func insert(_ index: Int, of boxes: Boxes) {
    let key = key(at: index, in: boxes)
    if key == 0 { return }
    let (position, isFound) = position(of: key, in: boxes)
    if isFound {
      earlier.append(contentsOf: repeatElement(0, count: boxes.count - earlier.count))
      earlier[index] = entries[position]
    }
    entries[position] = UInt32(index + 1)
  }

  /// Makes a chain begin with its next registered box, if it begins with a box that is about to be emptied. Call this before
  /// you empty the box, because an empty box has no key by which its chain could be found.
  mutating func unlink(_ box: WeakBox, in boxes: Boxes) {
    if earlier.isEmpty { return }
    let (position, isFound) = position(of: key(of: box), in: boxes)
    guard isFound, boxes[Int(entries[position]) - 1] === box else { return }
    var index = before(Int(entries[position]) - 1)
    while index >= 0, key(at: index, in: boxes) == 0 { index = before(index) }
    if index >= 0 { entries[position] = UInt32(index + 1) }
  }

  /// The index of the box with the same key that was registered before another one; -1 if there is none.
  private func before(_ index: Int) -> Int {
    index < earlier.count ? Int(earlier[index]) - 1 : -1
  }

  /// The key by which a box is found; 0 if the box is empty or has no key.
  private func key(of box: WeakBox) -> UInt {
    isByClient ? box.identity : box.isRegistered ? box.idHash : 0
  }

  private func key(at index: Int, in boxes: Boxes) -> UInt {
    boxes.borrow(index) { box in key(of: box) }
  }

  /// The position of a key's entry. If there is none, the position at which the key can be inserted: that of a free entry, or
  /// of an entry whose box is empty.
  @inline(__always)
  private func position(of key: UInt, in boxes: Boxes) -> (Int, isFound: Bool) {
    var position = Hashing.index(of: key, bits: entries.count.trailingZeroBitCount)
    var free = -1
    while entries[position] != 0 {
      let found = self.key(at: Int(entries[position]) &- 1, in: boxes)
      if found == key { return (position, key != 0) }
      if found == 0, free < 0 { free = position }
      position = (position &+ 1) & (entries.count &- 1)
    }
    return (free < 0 ? position : free, false)
  }
}
