/// A post that waits in a mailbox, for some of the clients of its list.
struct Letter: Sendable {
  let post: Post

  /// The clients, less those that are removed or deallocated before they are called.
  let group: Roster.Group
}

/// Letters in their order. They are appended at the end and taken from the front. Their memory follows their number.
struct LetterQueue: ~Copyable {
  /// From `next` on. The ones before have been taken.
  private var letters: ContiguousArray<Letter?> = []
  private var next = 0

  var count: Int { letters.count - next }
  var isEmpty: Bool { next == letters.count }
  var capacity: Int { letters.capacity }

  /// The letter that has waited longest.
  var first: Letter? { isEmpty ? nil : letters[next] }

  /// All letters.
  var all: [Letter] { letters[next...].compactMap(\.self) }

  mutating func append(_ letter: consuming Letter) {
    // Where some letters always wait, those that were taken are dropped when they are the most.
    if next > 256, 2 * next > letters.count {
      letters = ContiguousArray(letters[next...]); next = 0
    }
    letters.append(letter)
  }

  @inline(__always)
  mutating func popFirst() -> Letter? {
    if isEmpty { return nil }
    defer { next += 1 }
    return letters[next].take()
  }

  /// Takes the first letter. The caller must release its post.
  @inline(__always)
  mutating func takeFirst() -> (post: Unmanaged<Post>, group: Roster.Group)? {
    unsafe popFirst().map { letter in unsafe (.passRetained(letter.post), letter.group) }
  }

  /// Moves the first letters to a queue without letters, whose memory is used.
  mutating func move(_ limit: Int, to other: inout LetterQueue) {
    other.reset()
    if count <= limit { return swap(&self, &other) }
    while other.count < limit, let letter = popFirst() { other.append(letter) }
  }

  /// Takes the memory of a queue without letters.
  mutating func reuse(_ empty: inout LetterQueue) {
    empty.reset()
    if letters.capacity < empty.letters.capacity { swap(&self, &empty) }
  }

  private mutating func reset() {
    next = 0
    if letters.capacity > 256 { letters = [] } else { letters.removeAll(keepingCapacity: true) }
  }
}
