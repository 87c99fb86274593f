/// The generation that is to follow the current one of a list: a copy of the clients that are registered
/// there.
///
/// It is made step by step, since the lock is held during each. Between the steps clients are appended to the
/// current generation, and copied when their turn comes; who is removed is vacated in both. Only when
/// everybody has been copied does it take the other one's place.
///
/// All of it belongs to the list's lock.
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

  /// Copies as many as `limit` boxes. Returns whether all are copied.
  ///
  /// Clients that are dead and not known to be are copied too, which takes no reference to a client.
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
      // The copy is counted now. A walk that finds the client dead here will not count it out again.
      box.countOut()
    }
    return copied == current.count
  }

  mutating func withGeneration(_ body: (inout ClientGeneration) -> Void) { body(&generation) }

  consuming func takeGeneration() -> ClientGeneration { generation }
}
