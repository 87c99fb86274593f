import Synchronization

/// Clients of a list with a common subject, which can be walked over separately.
///
/// A list makes a group for its first client, and drops an empty group when it compacts. A later client gets
/// a new group of the same subject, so a dropped group stays empty.
final class ClientGroup: Sendable {
  /// The group's subject. The list keeps it alive, so its address identifies it.
  let subject: AnyObject & Sendable

  /// The number of registered boxes, including those of deallocated clients that no walk has found.
  ///
  /// Relaxed: it is a count and orders no other memory.
  private let registered = Atomic<Int>(0)

  /// The group's index in the current generation and in its successor. Protected by the list's lock.
  private let evenSlot = Atomic<Int>(0)
  private let oddSlot = Atomic<Int>(0)

  init(_ subject: AnyObject & Sendable) {
    self.subject = subject
  }

  var count: Int { registered.load(ordering: .relaxed) }

  func countIn() { registered.wrappingAdd(1, ordering: .relaxed) }

  func countOut() { registered.wrappingSubtract(1, ordering: .relaxed) }

  /// The index in generations of one side. It may be outdated; the generation checks it.
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
