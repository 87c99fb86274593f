/// The boxes of a list at one moment, in order, and again by home. A post is for these.
///
/// Clients that are added later are in another roster. Those that are removed leave empty boxes.
@usableFromInline
final class Roster: Sendable {
  /// The boxes of one home, in order.
  final class Residents: Sendable {
    /// Nil for the boxes of all homes.
    let home: Home?

    let boxes: Boxes

    init(of home: Home?, _ boxes: Boxes) { (self.home, self.boxes) = (home, boxes) }
  }

  let all: Residents

  /// All boxes.
  var boxes: Boxes { all.boxes }

  /// Those without a home.
  let homeless: Boxes

  /// The others, by home, in the order of the homes' first clients.
  let homes: ContiguousArray<Residents>

  init(_ boxes: Boxes) {
    // Usually all have the same home, or none. Then they share the array.
    let first = boxes.first?.home
    if boxes.indices.allSatisfy({ boxes.borrow($0) { box in box.home === first } }) {
      all = Residents(of: first, boxes)
      homeless = first == nil ? boxes : []
      homes = first == nil ? [] : [all]
      return
    }
    all = Residents(of: nil, boxes)
    var homeless = Boxes()
    var homes: [(home: Home, boxes: Boxes)] = []
    var indices: [ObjectIdentifier: Int] = [:]
    for box in boxes where box.isRegistered {
      guard let home = box.home else {
        homeless.append(box)
        continue
      }
      let index = indices[ObjectIdentifier(home)] ?? homes.count
      if index == homes.count {
        indices[ObjectIdentifier(home)] = index
        homes.append((home, []))
      }
      homes[index].boxes.append(box)
    }
    self.homeless = homeless
    self.homes = ContiguousArray(homes.map { Residents(of: $0.home, $0.boxes) })
  }
}
