/// The messages that wait for a handler which runs elsewhere, in the order of their posts.
///
/// One mailbox for each observation, and at most one drain under way in it: this, and not the order in
/// which tasks happen to start, is what keeps messages in order.
final class Mailbox<Message: Sendable>: Sendable {
  /// A message, and who waits for it to be handled or given up.
  struct Letter: Sendable {
    let message: Message
    let receipt: Receipt?
  }

  private struct Contents {
    /// The letters that came in, and those to go out next, the other way round: a queue of two stacks.
    var incoming: [Letter] = []
    var outgoing: [Letter] = []
    var isBeingDrained = false

    var count: Int { incoming.count + outgoing.count }

    mutating func next() -> Letter? {
      if outgoing.isEmpty {
        swap(&incoming, &outgoing)
        outgoing.reverse()
      }
      return outgoing.popLast()
    }
  }

  private let contents = Locked(Contents())

  /// Puts a letter in. Returns whether the caller has to see to it that ``next()`` is called until the
  /// mailbox is empty, where the handler runs.
  func put(_ letter: Letter) -> Bool {
    contents.withLock { contents in
      contents.incoming.append(letter)
      defer { contents.isBeingDrained = true }
      return !contents.isBeingDrained
    }
  }

  /// Takes the next letter out. After nil, whoever puts one in has to begin another drain.
  func next() -> Letter? {
    contents.withLock { contents in
      let letter = contents.next()
      if letter == nil { contents.isBeingDrained = false }
      return letter
    }
  }

  /// Puts a letter in behind the ones that wait, for a caller who is where the handler runs and will
  /// call ``pop()`` as often as is returned. Puts it nowhere and returns 0 if none wait: then the
  /// caller may deliver it without overtaking.
  func putUnlessEmpty(_ letter: Letter) -> Int {
    contents.withLock { contents in
      guard contents.count > 0 else { return 0 }
      contents.incoming.append(letter)
      return contents.count
    }
  }

  /// Throws away all letters.
  func removeAll() {
    let letters = contents.withLock { contents in
      defer { (contents.incoming, contents.outgoing) = ([], []) }
      return (contents.incoming, contents.outgoing)
    }
    extendLifetime(letters)
  }

  /// Takes the next letter out, and leaves a drain that was begun under way.
  func pop() -> Letter? {
    contents.withLock { $0.next() }
  }
}
