/// Finds a client's box by the client's identity: a hash table of boxes with open addressing.
///
/// It holds no keys of its own, since each box knows the identity that it stands for, and nothing is
/// taken out of it: a box whose client was removed has the identity 0 and is passed over. A list that
/// has gathered many of those is compacted, and its index made anew.
@safe
struct IdentityIndex {
  /// A list of no more boxes than this needs no table: it is searched from end to end.
  static var largestCountWithoutTable: Int { 16 }

  private var table: UnsafeMutablePointer<WeakBox?>?
  private var mask = 0

  /// Whether there is a table, so that ``find(_:where:)`` answers for the whole list.
  var exists: Bool { unsafe table != nil }

  /// The first box with this identity that matches, or nil. Asks of no box of another client.
  func find(_ identity: UInt, where matches: (WeakBox) -> Bool) -> WeakBox? {
    guard let table = unsafe table else { return nil }
    var place = firstPlace(for: identity)
    while let box = unsafe table[place] {
      if box.identity == identity, matches(box) { return box }
      place = (place + 1) & mask
    }
    return nil
  }

  /// Adds a box. The index must have been made for at least one more than it holds.
  func insert(_ box: WeakBox) {
    guard let table = unsafe table else { return }
    var place = firstPlace(for: box.identity)
    // The place of a vacated box is as good as a free one: no search ends at it, and nothing is
    // looked for in it any more.
    while let other = unsafe table[place], other.identity != 0 {
      place = (place + 1) & mask
    }
    unsafe table[place] = box
  }

  /// Empties the index, and makes it for as many as `count` boxes, which fill at most 3/4 of it.
  mutating func reset(for count: Int) {
    free()
    unsafe table = nil
    mask = 0
    guard count > Self.largestCountWithoutTable else { return }
    var size = 32
    while size * 3 < count * 4 { size *= 2 }
    let table = UnsafeMutablePointer<WeakBox?>.allocate(capacity: size)
    unsafe table.initialize(repeating: nil, count: size)
    unsafe self.table = table
    mask = size - 1
  }

  func free() {
    // A `WeakBox` is an address: there is nothing to deinitialize.
    unsafe table?.deallocate()
  }

  private func firstPlace(for identity: UInt) -> Int {
    Hashing.spread(identity) & mask
  }
}
