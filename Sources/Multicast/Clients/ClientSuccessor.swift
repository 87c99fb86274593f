/// The next generation of a list: a copy of the current one without vacated boxes.
///
/// It is made in steps, each with the lock held. Between steps, clients are appended to the current
/// generation and copied at their turn; removed clients are vacated in both. When everything has been copied,
/// it replaces the current generation.
@safe
struct ClientSuccessor: ~Copyable {
  private var generation: ClientGeneration

  private var segment: ClientSegment
  private var offset = 0
  private var copied = 0

  init(of current: borrowing ClientGeneration) {
    generation = ClientGeneration(
      stride: current.stride, hasCompanions: current.hasCompanions, side: current.side.other)
    generation.reserveIndex(for: current.count - current.vacant)
    segment = current.first
  }

  /// Copies up to `limit` boxes. Returns whether all are copied.
  ///
  /// Also copies deallocated clients that no walk has found, because checking them takes a reference.
  mutating func advance(
    through current: borrowing ClientGeneration, by limit: Int,
    droppingInto toRelease: inout [AnyObject]
  ) -> Bool {
    let end = copied + min(limit, current.count - copied)
    generation.note(end - copied)
    while copied < end {
      if offset == segment.capacity, let next = segment.next {
        segment = next
        offset = 0
      }
      let box = segment.box(at: offset, stride: current.stride)
      offset += 1
      copied += 1
      let identity = box.identity
      if identity != 0 {
        generation.append(copyOf: box, identity: identity, droppingInto: &toRelease)
      }
      // The copy is counted instead. A walk that vacates this box will not count it out again.
      box.countOut()
    }
    return copied == current.count
  }

  mutating func withGeneration(_ body: (inout ClientGeneration) -> Void) { body(&generation) }

  consuming func takeGeneration() -> ClientGeneration { generation }
}
