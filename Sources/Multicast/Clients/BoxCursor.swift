/// Walks over boxes.
@usableFromInline
@safe
struct BoxCursor {
  @usableFromInline
  let stride: Int

  /// The next box.
  @usableFromInline
  var position: UnsafeMutableRawPointer

  /// The place behind the last box to visit in this segment.
  @usableFromInline
  var end: UnsafeMutableRawPointer

  @usableFromInline
  var segment: ClientSegment

  /// The number of boxes to visit in the segments behind this one.
  @usableFromInline
  var remainingBehind: Int

  /// Begins before the first of `count` boxes.
  @inlinable
  init(first: ClientSegment, count: Int, stride: Int) {
    self.stride = stride
    let run = min(count, first.capacity)
    segment = first
    unsafe position = first.boxes
    unsafe end = position + run &* stride
    remainingBehind = count &- run
  }

  @inlinable
  @inline(__always)
  mutating func next() -> WeakBox? {
    if unsafe position == end, !enterNextSegment() { return nil }
    let box = unsafe WeakBox(address: position)
    unsafe position += stride
    return box
  }

  @usableFromInline
  mutating func enterNextSegment() -> Bool {
    guard remainingBehind > 0, let next = segment.next else { return false }
    self = BoxCursor(first: next, count: remainingBehind, stride: stride)
    return true
  }
}
