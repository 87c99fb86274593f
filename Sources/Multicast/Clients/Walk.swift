/// An iteration over the boxes that a list had when it began, without the list's lock.
///
/// A walk sees removals, because they vacate boxes, and no additions. Its boxes stay in place until its
/// `deinit` ends it.
///
/// ```text
/// var walk = list.beginWalk()
/// walk.forEach { box in box.withClient(as: Listener.self, body) == nil ? .dead : .called }
/// ```
///
/// A walk does not retain its list, which would cost every `notify` a retain and a release. The caller keeps
/// the list with `extendLifetime` until the walk has ended. An optimized build might otherwise release the
/// list after its last visible use.
@usableFromInline
@safe
struct Walk: ~Copyable {
  /// The list's next number when the walk began. Boxes with smaller numbers were registered before.
  @usableFromInline
  let limit: UInt64

  private let list: Unmanaged<ClientList>

  /// The counters of the walked generation. Their address identifies it.
  private let counters: UnsafeMutablePointer<WalkCounts.Counters>

  @usableFromInline
  var boxes: BoxCursor

  private var foundDead = false

  /// Takes over a walk that a generation has counted.
  init(
    over boxes: BoxCursor, of list: ClientList,
    counters: UnsafeMutablePointer<WalkCounts.Counters>, limit: UInt64
  ) {
    self.limit = limit
    unsafe self.list = .passUnretained(list)
    unsafe self.counters = counters
    self.boxes = boxes
  }

  @inlinable
  deinit { end() }

  @usableFromInline
  func end() {
    unsafe list._withUnsafeGuaranteedRef { list in
      unsafe list.endWalk(counters, foundDead: foundDead)
    }
  }

  /// The next box. Its client may be removed or deallocated.
  @inlinable
  @inline(__always)
  mutating func next() -> WeakBox? { boxes.next() }

  /// Passes each box to `body`. Returns the number of clients called.
  @inlinable
  @inline(__always)
  @discardableResult
  mutating func forEach<Failure: Error>(
    _ body: (WeakBox) throws(Failure) -> CallOutcome
  ) throws(Failure) -> Int {
    var called = 0
    while let box = next() {
      switch try body(box) {
      case .called: called &+= 1
      case .dead: noteDead(box)
      case .skipped: break
      case .last: return called &+ 1
      }
    }
    return called
  }

  /// Vacates a box whose client was found deallocated.
  @usableFromInline
  mutating func noteDead(_ box: WeakBox) {
    if unsafe box.vacate(countingIn: counters) { foundDead = true }
  }
}

/// What became of one client in a walk.
@usableFromInline
enum CallOutcome: Sendable {
  case called

  /// It was removed or deallocated.
  case dead

  /// It is not concerned.
  case skipped

  /// It was called, and the walk ends.
  case last
}
