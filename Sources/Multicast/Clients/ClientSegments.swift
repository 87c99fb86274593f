/// The memory of a generation's boxes: segments that are linked for walks, and listed to find a box by its place.
@safe
struct ClientSegments {
  private static var growingSegments: Int {
    (ClientSegment.largestCapacity / ClientSegment.smallestCapacity).trailingZeroBitCount
  }

  /// The number of boxes in the segments below the largest size.
  private static var boxesInGrowingSegments: Int {
    ClientSegment.largestCapacity - ClientSegment.smallestCapacity
  }

  let first: ClientSegment
  private let stride: Int
  private var segments: [ClientSegment]

  /// The number of boxes in all segments.
  private var capacity: Int

  init(stride: Int) {
    self.stride = stride
    first = .allocate(capacity: ClientSegment.smallestCapacity, stride: stride)
    segments = [first]
    capacity = first.capacity
  }

  subscript(place: Int) -> WeakBox {
    guard place >= Self.boxesInGrowingSegments else {
      // Each segment has twice the capacity of the previous one.
      let lengths = place / ClientSegment.smallestCapacity + 1
      let segment = Int.bitWidth - 1 - lengths.leadingZeroBitCount
      let start = ((1 << segment) - 1) * ClientSegment.smallestCapacity
      return segments[segment].box(at: place - start, stride: stride)
    }
    let (segment, offset) = (place - Self.boxesInGrowingSegments)
      .quotientAndRemainder(dividingBy: ClientSegment.largestCapacity)
    return segments[Self.growingSegments + segment].box(at: offset, stride: stride)
  }

  /// The box behind the first `count` ones, in a new segment if the last one is full.
  mutating func box(after count: Int) -> WeakBox {
    if count == capacity {
      let last = segments[segments.count - 1]
      let next = last.append(
        capacity: min(last.capacity * 2, ClientSegment.largestCapacity), stride: stride)
      segments.append(next)
      capacity += next.capacity
    }
    return self[count]
  }

  /// Frees the segments that the first `count` boxes do not need.
  mutating func removeAll(after count: Int) {
    while let last = segments.last, segments.count > 1, capacity - last.capacity >= count {
      capacity -= last.capacity
      segments.removeLast()
      segments[segments.count - 1].removeNext()
    }
  }

  /// Frees the memory. The boxes must have been deinitialized.
  func deallocate() {
    for segment in segments { segment.deallocate() }
  }
}
