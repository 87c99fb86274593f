/// The boxes of a list at one moment, in order, and again by home. A post is for these.
///
/// Clients that are added later are in another roster. Those that are removed leave empty boxes.
@usableFromInline
final class Roster: Sendable {
  /// Some boxes of a list, in order: those of one home, or all.
  final class Group: Sendable {
    /// The mailbox of the home; nil for all boxes.
    let mailbox: ClientHome?

    let boxes: Boxes

    init(_ boxes: Boxes, at mailbox: ClientHome? = nil) {
      self.mailbox = mailbox
      self.boxes = boxes
    }
  }

  let all: Group

  /// Those without a home.
  let homeless: Boxes

  /// In the order of the homes' first clients.
  let groups: ContiguousArray<Group>

  init(_ boxes: Boxes) {
    all = Group(boxes)
    // Usually all have the same home, or none. Then they share the array.
    let first = boxes.first?.mailbox
    if boxes.indices.allSatisfy({ boxes.borrow($0) { box in box.mailbox === first } }) {
      homeless = first == nil ? boxes : []
      groups = first.map { [Group(boxes, at: $0)] } ?? []
      return
    }
    var homeless = Boxes()
    var homes: [(mailbox: ClientHome, boxes: Boxes)] = []
    var places: [ObjectIdentifier: Int] = [:]
    for box in boxes where box.isRegistered {
      guard let mailbox = box.mailbox else {
        homeless.append(box)
        continue
      }
      let place = places[ObjectIdentifier(mailbox)] ?? homes.count
      if place == homes.count {
        places[ObjectIdentifier(mailbox)] = place
        homes.append((mailbox, []))
      }
      homes[place].boxes.append(box)
    }
    self.homeless = homeless
    groups = ContiguousArray(homes.map { Group($0.boxes, at: $0.mailbox) })
  }
}
