/// The groups of one generation, each with a chain of its boxes in the order of the list.
///
/// Protected by the list's lock. A walk reads its chain without the lock, up to the last box when it began.
/// Links change behind that box, or while no walk is active.
struct GroupChains {
  /// Distinguishes the two generations that a group may be in: the current one and its successor.
  enum Side {
    case even, odd

    var other: Side { self == .even ? .odd : .even }
  }

  /// Empty if the group's only box moved to another group.
  private struct Chain {
    var first: WeakBox?
    var last: WeakBox?
  }

  /// The largest number of groups that is searched linearly.
  private static var largestCountWithoutTable: Int { 8 }

  let side: Side

  /// Indexed by slot.
  private(set) var groups: [ClientGroup] = []

  /// Indexed by slot.
  private var chains: [Chain] = []

  /// The groups by subject, if there are many.
  private var table: [ObjectIdentifier: ClientGroup] = [:]

  /// The group of the last append. Clients of one group often come together.
  private var recent: ClientGroup?

  init(side: Side) {
    self.side = side
  }

  func existingGroup(of subject: AnyObject & Sendable) -> ClientGroup? {
    if let recent, recent.subject === subject { return recent }
    return groups.count > Self.largestCountWithoutTable
      ? table[ObjectIdentifier(subject)] : groups.first { $0.subject === subject }
  }

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

  func boxes(of group: ClientGroup, stride: Int) -> BoxCursor? {
    guard let slot = slot(of: group), let first = chains[slot].first, let last = chains[slot].last
    else { return nil }
    return BoxCursor(first: first, last: last, stride: stride)
  }

  /// Removes a box from a chain. `previous` precedes it; nil if it is the first.
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

  /// Inserts a box into a chain, after `previous`, or as the first.
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

  /// The slot of a group; nil if the group is not in here. A group's own value may be outdated.
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
