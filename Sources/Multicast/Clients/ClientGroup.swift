import Synchronization

/// Clients of a list that belong together, and can be walked over apart from the others.
///
/// The list makes a group for the first client that is added in it. It gives the group up when it is
/// tidied and nobody is in there. A client that comes later is in a new group of the same subject, so that
/// one that was given up stays empty for good.
final class ClientGroup: Sendable {
  /// What it is the group of. A list keeps it as long as its group, so that it is told by its address.
  let subject: AnyObject & Sendable

  /// How many boxes are registered here: those of dead clients too, until one finds them dead.
  ///
  /// Whoever vacates a box counts it, with the lock or without. It is a number and guards nothing, so
  /// that no order is needed.
  private let registered = Atomic<Int>(0)

  /// The group's place in the list's current generation, and in the one that is made to follow it.
  /// Belongs to the list's lock.
  private let evenSlot = Atomic<Int>(0)
  private let oddSlot = Atomic<Int>(0)

  init(_ subject: AnyObject & Sendable) {
    self.subject = subject
  }

  var count: Int { registered.load(ordering: .relaxed) }

  func countIn() { registered.wrappingAdd(1, ordering: .relaxed) }

  func countOut() { registered.wrappingSubtract(1, ordering: .relaxed) }

  /// The slot in generations of one side. It may be out of date: the generation knows whose it is.
  func slot(in side: GroupChains.Side) -> Int {
    switch side {
    case .even: evenSlot.load(ordering: .relaxed)
    case .odd: oddSlot.load(ordering: .relaxed)
    }
  }

  func setSlot(_ slot: Int, in side: GroupChains.Side) {
    switch side {
    case .even: evenSlot.store(slot, ordering: .relaxed)
    case .odd: oddSlot.store(slot, ordering: .relaxed)
    }
  }
}
