/// The groups of one generation, and the boxes of each as a chain, in the order of the list.
///
/// Belongs to the list's lock. A walk reads the links of its chain without it, up to the box that was the
/// last when it began; links change behind that, or while no walk is under way.
struct GroupChains {
  /// A group has a slot in two generations at most: the current one, and the one made to follow it. They
  /// are of different sides.
  enum Side {
    case even, odd

    var other: Side { self == .even ? .odd : .even }
  }

  /// Without boxes for a group whose only one has gone to another group.
  private struct Chain {
    var first: WeakBox?
    var last: WeakBox?
  }

  /// Up to this many groups are searched one after the other.
  private static var largestCountWithoutTable: Int { 8 }

  let side: Side

  /// By slot.
  private(set) var groups: [ClientGroup] = []

  /// By slot.
  private var chains: [Chain] = []

  /// By subject, once there are many.
  private var table: [ObjectIdentifier: ClientGroup] = [:]

  /// The one that was appended to last: clients of one group tend to come together.
  private var recent: ClientGroup?

  init(side: Side) {
    self.side = side
  }

  var isEmpty: Bool { groups.isEmpty }

  /// The group of a subject, if it has one here.
  func existingGroup(of subject: AnyObject & Sendable) -> ClientGroup? {
    if let recent, recent.subject === subject { return recent }
    return groups.count > Self.largestCountWithoutTable
      ? table[ObjectIdentifier(subject)] : groups.first { $0.subject === subject }
  }

  /// Appends a box to the chain of its group.
  mutating func append(_ box: WeakBox, to group: ClientGroup) {
    let slot = slot(of: group) ?? enter(group)
    recent = group
    if let last = chains[slot].last {
      unsafe last.header.pointee.nextInGroup = box.address
    } else {
      chains[slot].first = box
    }
    chains[slot].last = box
  }

  /// A cursor over the boxes of a group; nil if it has none here.
  func boxes(of group: ClientGroup, stride: Int) -> BoxCursor? {
    guard let slot = slot(of: group), let first = chains[slot].first, let last = chains[slot].last
    else { return nil }
    return BoxCursor(first: first, last: last, stride: stride)
  }

  /// Takes a box out of a chain, in which it follows another one or is the first.
  mutating func unlink(_ box: WeakBox, from group: ClientGroup, after previous: WeakBox?) {
    guard let slot = slot(of: group) else { return }
    let next = unsafe box.header.pointee.nextInGroup
    unsafe box.header.pointee.nextInGroup = nil
    if let previous {
      unsafe previous.header.pointee.nextInGroup = next
    } else {
      chains[slot].first = unsafe next.map { unsafe WeakBox(address: $0) }
    }
    if unsafe next == nil { chains[slot].last = previous }
  }

  /// Puts a box into a chain, behind another one or as the first.
  mutating func link(_ box: WeakBox, into group: ClientGroup, after previous: WeakBox?) {
    let slot = slot(of: group) ?? enter(group)
    if let previous {
      unsafe box.header.pointee.nextInGroup = previous.header.pointee.nextInGroup
      unsafe previous.header.pointee.nextInGroup = box.address
    } else {
      unsafe box.header.pointee.nextInGroup = chains[slot].first?.address
      chains[slot].first = box
    }
    if unsafe box.header.pointee.nextInGroup == nil { chains[slot].last = box }
  }

  /// The slot of a group that is in here. What the group says of it holds if it is there.
  private func slot(of group: ClientGroup) -> Int? {
    let slot = group.slot(in: side)
    return slot < groups.count && groups[slot] === group ? slot : nil
  }

  private mutating func enter(_ group: ClientGroup) -> Int {
    let slot = groups.count
    group.setSlot(slot, in: side)
    groups.append(group)
    chains.append(Chain())
    if groups.count == Self.largestCountWithoutTable + 1 {
      for group in groups { table[ObjectIdentifier(group.subject)] = group }
    } else if groups.count > Self.largestCountWithoutTable {
      table[ObjectIdentifier(group.subject)] = group
    }
    return slot
  }
}
