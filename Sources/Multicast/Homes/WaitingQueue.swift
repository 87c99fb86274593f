/// Letters or posts in their order. They are appended at the end and taken from the front. Their memory follows their number.
struct WaitingQueue<Element>: ~Copyable {
  /// From `next` on. The ones before have been taken.
  private var elements: ContiguousArray<Element?> = []
  private var next = 0

  var count: Int { elements.count - next }
  var isEmpty: Bool { next == elements.count }
  var capacity: Int { elements.capacity }

  /// The one that has waited longest.
  var first: Element? { isEmpty ? nil : elements[next] }

  var all: [Element] { elements[next...].compactMap(\.self) }

  func contains(where predicate: (Element) -> Bool) -> Bool {
    elements[next...].contains { element in element.map(predicate) ?? false }
  }

  mutating func append(_ element: consuming Element) {
    // Where some elements always wait, those that were taken are dropped when they are the most.
    if next > 256, 2 * next > elements.count {
      elements = ContiguousArray(elements[next...]); next = 0
    }
    elements.append(element)
  }

  @inline(__always)
  mutating func popFirst() -> Element? {
    if isEmpty { return nil }
    defer { next += 1 }
    return elements[next].take()
  }

  /// Moves the first elements to a queue without elements, whose memory is used.
  mutating func move(_ limit: Int, to other: inout WaitingQueue) {
    other.reset()
    if count <= limit { return swap(&self, &other) }
    while other.count < limit, let element = popFirst() { other.append(element) }
  }

  /// Takes the memory of a queue without elements.
  mutating func reuse(_ empty: inout WaitingQueue) {
    empty.reset()
    if elements.capacity < empty.elements.capacity { swap(&self, &empty) }
  }

  private mutating func reset() {
    next = 0
    if elements.capacity > 256 { elements = [] } else { elements.removeAll(keepingCapacity: true) }
  }
}
