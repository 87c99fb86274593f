/// A post that waits in a mailbox.
@usableFromInline
struct Letter: Sendable {
  /// Whom the post is for, among those who are still registered.
  @usableFromInline
  enum Addressee: Sendable {
    /// The clients of the list that live in this home, with registrations before this number. That of a kept
    /// post is its own.
    case home(before: UInt64)

    /// The clients of the list without a home, with registrations before this number.
    case homeless(before: UInt64)

    /// All clients of the list with registrations before this number. The post's body names the home.
    case everyone(before: UInt64)

    /// One registration. A kept post has its number.
    case one(Registration, number: UInt64)
  }

  let post: Post

  /// Its release resumes the poster that waits.
  let receipt: (AnyObject & Sendable)?

  let addressee: Addressee
}

extension Letter.Addressee {
  /// The number of a kept post to a topic.
  var number: UInt64 {
    switch self {
    case .home(let number), .one(_, let number): number
    case .homeless, .everyone: 0
    }
  }

  /// Whether the post is for a registration that its walk finds.
  func includes(_ box: WeakBox) -> Bool {
    switch self {
    case .home(let limit), .everyone(let limit): box.number < limit
    case .homeless(let limit): box.number < limit && !box.hasHome
    case .one: true
    }
  }
}

extension Letter {
  /// Calls and awaits the client that the letter is for, in the task of its home.
  func callAwaiting(in mailbox: Mailbox) async {
    guard let box = registration(at: mailbox) else { return }
    await post.reporting(in: mailbox.place, client: box.type) {
      await post.callAwaiting(box.registration, post, addressee)
    }
  }

  /// The registration that the letter is for, and what reports name; nil if it has ended.
  private func registration(
    at mailbox: Mailbox
  ) -> (registration: Registration, type: (any Any.Type)?)? {
    defer { extendLifetime(post) }
    guard var walk = post.list.beginWalk(for: addressee, at: mailbox) else { return nil }
    var found: (Registration, (any Any.Type)?)?
    walk.forEach { box in
      guard addressee.includes(box) else { return .skipped }
      guard box.identity != 0 else { return .dead }
      found = (box.registration, post.trace == nil ? nil : box.reportedType)
      return .last
    }
    return found
  }
}

extension ClientList {
  /// Begins a walk over the clients that a letter in a mailbox may be for; nil if there is none.
  func beginWalk(for addressee: Letter.Addressee, at mailbox: Mailbox) -> Walk? {
    switch addressee {
    case .home: beginWalk(at: mailbox)
    case .homeless, .everyone: beginWalk()
    case .one(let registration, _): beginWalk(at: registration)
    }
  }
}

/// Letters in their order. They move from queue to queue without reference counting.
struct LetterQueue: Sendable {
  /// The largest capacity that an empty queue keeps.
  private static var largestIdleCapacity: Int { 256 }

  private var letters: [Letter?] = []
  private var next = 0

  var isEmpty: Bool { next == letters.count }

  var count: Int { letters.count - next }

  /// The letter that has waited longest.
  var first: Letter? { isEmpty ? nil : letters[next] }

  mutating func append(_ letter: Letter) { letters.append(letter) }

  mutating func popFirst() -> Letter? {
    guard next < letters.count else { return nil }
    let letter = letters[next].take()
    next += 1
    return letter
  }

  /// Removes the first letters and returns them. `empty` has none, and its memory is reused.
  mutating func takeFirst(_ limit: Int, into empty: inout LetterQueue) {
    empty.reset()
    if count <= limit {
      swap(&self, &empty)
    } else {
      for _ in 0..<limit { empty.letters.append(letters[next].take()); next += 1 }
    }
  }

  /// Takes the memory of a queue without letters.
  mutating func reuse(_ empty: inout LetterQueue) {
    guard letters.capacity == 0 || isEmpty && letters.capacity < empty.letters.capacity else {
      return
    }
    empty.reset()
    swap(&self, &empty)
  }

  private mutating func reset() {
    if letters.capacity > Self.largestIdleCapacity {
      letters = []
    } else {
      letters.removeAll(keepingCapacity: true)
    }
    next = 0
  }
}
