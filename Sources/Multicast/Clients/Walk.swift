/// One way through the boxes that stood in a list when it began, without the list's lock.
///
/// A walk sees what is removed meanwhile, because the box is vacated, and nothing that is added. What it
/// walks over stays where it is until it ends, which it does by itself, at the end of its own life.
///
/// ```text
/// var walk = list.beginWalk()
/// while let box = walk.next() {
///   if box.withClient(as: Listener.self, body) == nil { walk.noteDead(box) }
/// }
/// ```
///
/// It does not keep its list, which would be two reference-count operations for each notify. Whoever walks
/// keeps the list with `extendLifetime` until the walk has ended: an optimised build may otherwise release the
/// list before that, after what looks like its last use.
@usableFromInline
@safe
struct Walk: ~Copyable {
  /// The list's next number when the walk began: a box with a smaller one was registered before that.
  @usableFromInline
  let limit: UInt64

  private let list: Unmanaged<ClientList>

  /// The counters of the generation that the walk is in, which can be told by their address.
  private let counters: UnsafeMutablePointer<ClientGeneration.Counters>

  /// The boxes from the first one on; nil if there are none.
  private let all: BoxCursor

  @usableFromInline
  var boxes: BoxCursor

  private var foundDead = false

  /// Takes over a walk that was begun in a generation of the list.
  init(
    over boxes: BoxCursor, of list: ClientList,
    counters: UnsafeMutablePointer<ClientGeneration.Counters>, limit: UInt64
  ) {
    self.limit = limit
    unsafe self.list = .passUnretained(list)
    unsafe self.counters = counters
    all = boxes
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

  /// The next box, whose client may have been removed, or be dead.
  @inlinable
  @inline(__always)
  mutating func next() -> WeakBox? { boxes.next() }

  /// Takes note that a box turned out to have no client any more: it is vacated, unless it was before.
  @usableFromInline
  mutating func noteDead(_ box: WeakBox) {
    if unsafe box.vacate(countingIn: counters) { foundDead = true }
  }

  /// Goes back before the first box, to walk over the same ones again.
  mutating func rewind() { boxes = all }
}
