/// The boxes of a list at one moment, in order, and again by home: the listeners that a post is for.
///
/// A listener that is added later is in a later roster. A removal empties the box, which all rosters see.
@usableFromInline
final class Roster: Sendable {
  /// The boxes of one home, in order.
  final class Group: Sendable {
    /// Nil for the boxes of several homes, and for boxes without a home.
    let home: Home?

    let boxes: Boxes

    init(of home: Home?, _ boxes: Boxes) {
      self.home = home
      self.boxes = boxes
    }
  }

  /// All boxes.
  let boxes: Boxes

  /// Those without a home.
  let withoutHome: Boxes

  /// The others, by home, in the order of the homes' first boxes.
  let homes: ContiguousArray<Group>

  init(_ boxes: Boxes, withoutHome: Boxes, homes: ContiguousArray<Group>) {
    self.boxes = boxes
    self.withoutHome = withoutHome
    self.homes = homes
  }

  convenience init(_ boxes: Boxes) {
    // Usually all listeners have the same home, or none. Then the array is shared.
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
      homes: ContiguousArray(homes.map { Group(of: $0.home, $0.boxes) }))
  }

  /// The boxes as if all of them had one home, or none.
  convenience init(allOf boxes: Boxes, in home: Home?) {
    if let home {
      self.init(boxes, withoutHome: [], homes: [Group(of: home, boxes)])
    } else {
      self.init(boxes, withoutHome: boxes, homes: [])
    }
  }
}
