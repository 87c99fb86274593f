/// The segments of a generation, and their boxes by index.
@safe
struct SegmentDirectory {
  private static var growingSegments: Int {
    (ClientSegment.largestCapacity / ClientSegment.smallestCapacity).trailingZeroBitCount
  }

  /// The number of boxes in the segments below the largest size.
  private static var boxesInGrowingSegments: Int {
    ClientSegment.largestCapacity - ClientSegment.smallestCapacity
  }

  private let stride: Int
  private var segments: [ClientSegment] = []

  init(first: ClientSegment, stride: Int) {
    self.stride = stride
    segments = [first]
  }

  mutating func append(_ segment: ClientSegment) { segments.append(segment) }

  mutating func removeLast(keeping count: Int) { segments.removeLast(segments.count - count) }

  subscript(place: UInt32) -> WeakBox {
    let place = Int(place)
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
}
