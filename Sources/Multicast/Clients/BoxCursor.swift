/// Goes from box to box: over the first boxes of a list, or over those of one group.
///
/// It knows where to stop from the beginning. What is appended meanwhile lies behind that, so that it
/// reads nothing that an append writes.
@usableFromInline
@safe
struct BoxCursor {
  @usableFromInline
  let stride: Int

  /// The next box.
  @usableFromInline
  var position: UnsafeMutableRawPointer

  /// The place behind the last box of the run that the cursor is in.
  @usableFromInline
  var end: UnsafeMutableRawPointer

  /// Where the run after this one begins: a segment, or a box of the group; nil after the last run.
  private var behind: UnsafeMutableRawPointer?

  /// The number of boxes in the runs behind this one, if runs are segments.
  private var countBehind: Int

  /// The last box of the group to visit; nil where runs are segments.
  private let lastOfGroup: UnsafeMutableRawPointer?

  /// Begins before the first of `count` boxes.
  init(first: ClientSegment, count: Int, stride: Int) {
    self.stride = stride
    unsafe position = first.address
    unsafe end = first.address
    unsafe behind = count > 0 ? first.address : nil
    countBehind = count
    unsafe lastOfGroup = nil
  }

  /// Begins before the first box of a group.
  init(first: WeakBox, last: WeakBox, stride: Int) {
    self.stride = stride
    unsafe position = first.address
    unsafe end = first.address
    unsafe behind = first.address
    countBehind = 0
    unsafe lastOfGroup = last.address
  }

  @inlinable
  @inline(__always)
  mutating func next() -> WeakBox? {
    if unsafe position == end, !enterNextRun() { return nil }
    let box = unsafe WeakBox(address: position)
    unsafe position += stride
    return box
  }

  @usableFromInline
  mutating func enterNextRun() -> Bool {
    guard let start = unsafe behind else { return false }
    if let lastOfGroup = unsafe lastOfGroup {
      // The boxes of a group are anywhere in the list: each is a run of its own.
      let box = unsafe WeakBox(address: start)
      unsafe position = start
      unsafe end = start + stride
      unsafe behind = start == lastOfGroup ? nil : box.header.pointee.nextInGroup
    } else {
      let segment = unsafe ClientSegment(address: start)
      let run = min(countBehind, segment.capacity)
      unsafe position = segment.boxes
      unsafe end = position + run &* stride
      countBehind &-= run
      unsafe behind = countBehind > 0 ? segment.next?.address : nil
    }
    return true
  }
}
