/// The homes that a post has claimed, because they are where it is made.
///
/// Usually there is one at most, which needs no memory.
struct ClaimedHomes: ~Copyable {
  private var first: Residents?
  private var others: [Residents] = []

  /// The mailbox of the clients without a home, if it is claimed.
  var homeless: Mailbox?

  var isEmpty: Bool { first == nil && homeless == nil }

  mutating func append(_ residents: Residents) {
    if first == nil { first = residents } else { others.append(residents) }
  }

  func contains(_ residents: Residents) -> Bool {
    residents === first || !others.isEmpty && others.contains { $0 === residents }
  }

  /// Whether the client in a box lives in one of them.
  @inline(__always)
  func contain(_ box: WeakBox) -> Bool {
    guard let first else { return false }
    return box.isOne(of: first) || !others.isEmpty && others.contains { box.isOne(of: $0) }
  }

  func forEach(_ body: (Mailbox) -> Void) {
    if let first { body(first.home) }
    for residents in others { body(residents.home) }
    if let homeless { body(homeless) }
  }
}
