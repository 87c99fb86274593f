/// A first-in, first-out queue of letters or posts. Its memory is at most that of the elements that have waited since it was last
/// empty, or of 256 elements. After a move, it may be that of the other queue.
struct WaitingQueue<Element>: ~Copyable {
  /// The elements that wait begin at `next`. The earlier ones have been taken and are nil.
  private var elements: ContiguousArray<Element?> = []
  private var next = 0

  var count: Int { elements.count - next }
  var isEmpty: Bool { next == elements.count }
  var capacity: Int { elements.capacity }

  /// The element that has waited longest.
  var first: Element? { isEmpty ? nil : elements[next] }

  var all: [Element] { elements[next...].compactMap(\.self) }

  func contains(where predicate: (Element) -> Bool) -> Bool {
    // From the end, where the callers look for what was appended just now.
    elements[next...].reversed().contains { element in element.map(predicate) ?? false }
  }

  mutating func append(_ element: consuming Element) {
    // In a queue that is never empty, drop the elements that were taken once they are more than half.
    if next > 256, 2 * next > elements.count {
      elements = ContiguousArray(elements[next...])
      next = 0
    }
    elements.append(element)
  }

  @inline(__always)
  mutating func popFirst() -> Element? {
    if isEmpty { return nil }
    defer { next += 1 }
    return elements[next].take()
  }

  /// Moves up to `limit` elements to a queue that is empty, and reuses its memory. If there is nothing to move, this queue
  /// keeps the larger memory of both.
  mutating func move(_ limit: Int, to other: inout WaitingQueue) {
    other.reset()
    if isEmpty {
      reset()
      if elements.capacity < other.elements.capacity { swap(&self, &other) }
    } else if count <= limit {
      swap(&self, &other)
    } else {
      while other.count < limit, let element = popFirst() { other.append(element) }
    }
  }

  private mutating func reset() {
    next = 0
    if elements.capacity > 256 { elements = [] } else { elements.removeAll(keepingCapacity: true) }
  }
}
