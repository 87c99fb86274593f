/// A run of boxes in one allocation, linked to the next one.
///
/// A list grows by appending segments, so boxes stay in place during a walk.
@usableFromInline
@safe
struct ClientSegment {
  @usableFromInline
  struct Header {
    @usableFromInline
    var next: ClientSegment?

    @usableFromInline
    let capacity: Int
  }

  /// The first segment has the smallest capacity. Each further one doubles it, up to the largest.
  static var smallestCapacity: Int { 4 }
  static var largestCapacity: Int { 512 }

  @usableFromInline
  let address: UnsafeMutableRawPointer

  @inlinable
  var header: UnsafeMutablePointer<Header> {
    unsafe address.assumingMemoryBound(to: Header.self)
  }

  @inlinable
  var capacity: Int { unsafe header.pointee.capacity }

  @inlinable
  var next: ClientSegment? { unsafe header.pointee.next }

  @inlinable
  var boxes: UnsafeMutableRawPointer {
    unsafe address.advanced(by: MemoryLayout<Header>.stride)
  }

  func box(at offset: Int, stride: Int) -> WeakBox {
    unsafe WeakBox(address: boxes.advanced(by: offset * stride))
  }

  static func allocate(capacity: Int, stride: Int) -> ClientSegment {
    let address = UnsafeMutableRawPointer.allocate(
      byteCount: MemoryLayout<Header>.stride + capacity * stride,
      alignment: MemoryLayout<WeakBox.Header>.alignment)
    let segment = unsafe ClientSegment(address: address)
    unsafe segment.header.initialize(to: Header(next: nil, capacity: capacity))
    return segment
  }

  /// Appends a segment to this one, the last.
  func append(capacity: Int, stride: Int) -> ClientSegment {
    let segment = Self.allocate(capacity: capacity, stride: stride)
    unsafe header.pointee.next = segment
    return segment
  }

  /// Frees the memory. The boxes must have been deinitialized or moved.
  func deallocate() {
    unsafe header.deinitialize(count: 1)
    unsafe address.deallocate()
  }

  /// Frees the memory of the next segment, the last.
  func removeNext() {
    next?.deallocate()
    unsafe header.pointee.next = nil
  }
}
