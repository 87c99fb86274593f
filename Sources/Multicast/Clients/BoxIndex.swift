/// Finds the boxes of a long list by a key: a hash table with open addressing.
///
/// An entry is a box's index in the list, in four bytes. Boxes with one key are a chain that begins with the last one, so
/// they are in nobody's way. Nothing is removed from the table. An empty box is skipped. A list with many of them is
/// compacted, and gets another table.
struct BoxIndex {
  /// The longest list that is searched linearly, without a table.
  static var largestCountWithoutTable: Int { 16 }

  /// Whether boxes are found by their clients, or by their keys.
  private let isByClient: Bool

  /// Places plus 1; 0 for a free entry. Their number is a power of two.
  private var entries: ContiguousArray<UInt32> = []

  /// For each box, the entry of the one before it in its chain. Empty without chains.
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
    // The last box of a chain is not empty, unless all are.
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

  /// Adds the last box of the list, unless its key is 0.
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

  /// Lets searches begin before a box that is about to be emptied, if it is the last one of a chain.
  mutating func skip(_ box: WeakBox, in boxes: Boxes) {
    if earlier.isEmpty { return }
    let (position, isFound) = position(of: key(of: box), in: boxes)
    guard isFound, boxes[Int(entries[position]) - 1] === box else { return }
    var index = before(Int(entries[position]) - 1)
    while index >= 0, key(at: index, in: boxes) == 0 { index = before(index) }
    if index >= 0 { entries[position] = UInt32(index + 1) }
  }

  /// The index of the box before another one in its chain; -1 if it is the first.
  private func before(_ index: Int) -> Int {
    index < earlier.count ? Int(earlier[index]) - 1 : -1
  }

  /// What a box is found by; 0 if it is empty, or not looked for.
  private func key(of box: WeakBox) -> UInt {
    isByClient ? box.identity : box.isRegistered ? box.key : 0
  }

  private func key(at index: Int, in boxes: Boxes) -> UInt {
    boxes.borrow(index) { box in key(of: box) }
  }

  /// The position of a key's entry; if there is none, one that is free for it. So is the entry of an empty box.
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
