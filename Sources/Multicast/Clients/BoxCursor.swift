/// Iterates over boxes: the first boxes of a list, or those of one home.
///
/// Its end is fixed when it begins. Boxes appended meanwhile lie behind that, so it reads nothing that an
/// append writes.
@usableFromInline
@safe
struct BoxCursor {
  @usableFromInline
  let stride: Int

  @usableFromInline
  var position: UnsafeMutableRawPointer

  /// The end of the current run of boxes.
  @usableFromInline
  var end: UnsafeMutableRawPointer

  /// The start of the next run: a segment, or a box of the home. Nil after the last run.
  private var behind: UnsafeMutableRawPointer?

  /// The number of boxes in the following segments.
  private var countBehind: Int

  /// The last box of the home; nil for a whole list.
  private let lastResident: UnsafeMutableRawPointer?

  /// Iterates over the first `count` boxes of a list.
  init(first: ClientSegment, count: Int, stride: Int) {
    self.stride = stride
    unsafe position = first.address
    unsafe end = first.address
    unsafe behind = count > 0 ? first.address : nil
    countBehind = count
    unsafe lastResident = nil
  }

  init(first: WeakBox, last: WeakBox, stride: Int) {
    self.stride = stride
    unsafe position = first.address
    unsafe end = first.address
    unsafe behind = first.address
    countBehind = 0
    unsafe lastResident = last.address
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
    if let lastResident = unsafe lastResident {
      // The boxes of a home are not adjacent. Each is a run of its own.
      let box = unsafe WeakBox(address: start)
      unsafe position = start
      unsafe end = start + stride
      unsafe behind = start == lastResident ? nil : box.header.pointee.nextResident
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
