/// The homes of one generation's clients, each with a chain of its boxes in the order of the list.
///
/// Protected by the list's lock. A walk reads its chain without the lock, up to the last box when it began.
/// Links change behind that box only.
struct ResidentChains {
  /// Distinguishes the two generations that residents may be in: the current one and its successor.
  enum Side {
    case even, odd

    var other: Side { self == .even ? .odd : .even }
  }

  private struct Chain {
    let first: WeakBox
    var last: WeakBox
  }

  /// The largest number of homes that is searched linearly.
  private static var largestCountWithoutTable: Int { 8 }

  let side: Side

  /// Indexed by slot.
  private(set) var all: [Residents] = []

  /// Indexed by slot.
  private var chains: [Chain] = []

  /// The residents by mailbox, if there are many.
  private var table: [ObjectIdentifier: Residents] = [:]

  /// The residents of the last append. Clients of one home often come together.
  private var recent: Residents?

  init(side: Side) {
    self.side = side
  }

  func existing(of mailbox: AnyObject & Sendable) -> Residents? {
    if let recent, recent.mailbox === mailbox { return recent }
    return all.count > Self.largestCountWithoutTable
      ? table[ObjectIdentifier(mailbox)] : all.first { $0.mailbox === mailbox }
  }

  mutating func append(_ box: WeakBox, to residents: Residents) {
    recent = residents
    guard let slot = slot(of: residents) else { return enter(residents, box) }
    unsafe chains[slot].last.header.pointee.nextResident = box.address
    chains[slot].last = box
  }

  func boxes(of residents: Residents, stride: Int) -> BoxCursor? {
    slot(of: residents).map { slot in
      BoxCursor(first: chains[slot].first, last: chains[slot].last, stride: stride)
    }
  }

  /// The slot of residents; nil if they are not in here. Their own value may be outdated.
  private func slot(of residents: Residents) -> Int? {
    let slot = residents.slot(in: side)
    return slot < all.count && all[slot] === residents ? slot : nil
  }

  private mutating func enter(_ residents: Residents, _ box: WeakBox) {
    residents.setSlot(all.count, in: side)
    all.append(residents)
    chains.append(Chain(first: box, last: box))
    if all.count == Self.largestCountWithoutTable + 1 {
      for residents in all { table[ObjectIdentifier(residents.mailbox)] = residents }
    } else if all.count > Self.largestCountWithoutTable {
      table[ObjectIdentifier(residents.mailbox)] = residents
    }
  }
}
