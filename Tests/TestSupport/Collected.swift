import Multicast

/// Collects what happens, in its order.
package final class Collected<Element: Sendable>: Sendable {
  private let elements = Locked<[Element]>([])

  package init() {}

  package var all: [Element] { elements.withLock { $0 } }

  package func add(_ element: Element) { elements.withLock { $0.append(element) } }

  /// Returns what was collected, and forgets it.
  package func take() -> [Element] {
    elements.withLock { elements in
      defer { elements = [] }
      return elements
    }
  }

  package func wait(for count: Int) async {
    while all.count < count { await Task.yield() }
  }
}

package typealias Numbers = Collected<Int>

/// What happened, in words.
package typealias Journal = Collected<String>

extension Journal {
  package func write(_ entry: String) { add(entry) }

  /// Returns the entries so far, joined, and forgets them.
  package func read() -> String { take().joined(separator: " ") }
}
