/// The clients of a list that live in one home. They can be walked over separately.
///
/// A list makes this for its first client in a home, and drops it when it compacts without finding one. A later
/// client gets another object, so a dropped one stays empty.
final class Residents: Sendable {
  /// The mailbox of the home. The list keeps it alive, so its address identifies it.
  let mailbox: AnyObject & Sendable

  /// The number of registered boxes, including those of deallocated clients that no walk has found.
  ///
  /// Relaxed: it is a count and orders no other memory.
  private let registered = Atomic<Int>(0)

  /// The index in the current generation and in its successor. Protected by the list's lock.
  private let evenSlot = Atomic<Int>(0)
  private let oddSlot = Atomic<Int>(0)

  init(of mailbox: AnyObject & Sendable) {
    self.mailbox = mailbox
  }

  var count: Int { registered.load(ordering: .relaxed) }

  func countIn() { registered.wrappingAdd(1, ordering: .relaxed) }

  func countOut() { registered.wrappingSubtract(1, ordering: .relaxed) }

  /// The index in generations of one side. It may be outdated; the generation checks it.
  func slot(in side: ResidentChains.Side) -> Int {
    switch side {
    case .even: evenSlot.load(ordering: .relaxed)
    case .odd: oddSlot.load(ordering: .relaxed)
    }
  }

  func setSlot(_ slot: Int, in side: ResidentChains.Side) {
    switch side {
    case .even: evenSlot.store(slot, ordering: .relaxed)
    case .odd: oddSlot.store(slot, ordering: .relaxed)
    }
  }
}
