/// The boxes of a list at one moment, in order, and again by home: the listeners that a post is for.
///
/// A list makes a roster when one is first needed, and drops it when a box is appended or the list is compacted. All posts
/// in between share it. A listener that is added later is in a later roster. A removal empties the box, which is in all
/// rosters.
@usableFromInline
final class Roster: Sendable {
  /// The boxes of one home, in order.
  final class Group: Sendable {
    /// Where the letters for these boxes go: the boxes' home, except for `postOnMain` and `post(awaiting:)`.
    let home: Home

    let boxes: Boxes

    init(of home: Home, _ boxes: Boxes) {
      self.home = home
      self.boxes = boxes
    }
  }

  /// All boxes, with or without a home.
  let boxes: Boxes

  /// The boxes without a home.
  let withoutHome: Boxes

  /// The boxes with a home, by home, in the order of the homes' first boxes.
  let groups: ContiguousArray<Group>

  init(_ boxes: Boxes, withoutHome: Boxes, groups: ContiguousArray<Group>) {
    self.boxes = boxes
    self.withoutHome = withoutHome
    self.groups = groups
  }

  convenience init(_ boxes: Boxes) {
    // Usually all listeners have the same home, or none. Then the group shares the array, and nothing is allocated for each
    // box.
    let home = boxes.first?.home
    if boxes.indices.allSatisfy({ boxes.borrow($0) { box in box.home === home } }) {
      self.init(allOf: boxes, in: home)
      return
    }
    var withoutHome = Boxes()
    var homes: [(home: Home, boxes: Boxes)] = []
    var indices: [ObjectIdentifier: Int] = [:]
    for box in boxes where box.isRegistered {
      guard let home = box.home else {
        withoutHome.append(box)
        continue
      }
      let index = indices[ObjectIdentifier(home)] ?? homes.count
      if index == homes.count {
        indices[ObjectIdentifier(home)] = index
        homes.append((home, []))
      }
      homes[index].boxes.append(box)
    }
    self.init(
      boxes, withoutHome: withoutHome,
      groups: ContiguousArray(homes.map { Group(of: $0.home, $0.boxes) }))
  }

  /// Whether a box is that of a client, or was emptied, so that it may have been.
  func mayContain(_ client: UInt) -> Bool {
    boxes.contains { box in box.identity == client || !box.isRegistered }
  }

  /// Creates a roster as if all boxes had the same home, or none.
  convenience init(allOf boxes: Boxes, in home: Home?) {
    if let home {
      self.init(boxes, withoutHome: [], groups: [Group(of: home, boxes)])
    } else {
      self.init(boxes, withoutHome: boxes, groups: [])
    }
  }
}
