import DequeModule
import Dispatch
import NIOConcurrencyHelpers

/// Elements that wait for a queue, which takes all that wait at once.
package final class Batches<Element: Sendable>: Sendable {
  private struct State {
    var waiting: Deque<Element> = []
    var bytes = 0
    var isScheduled = false
  }

  private let queue: DispatchQueue
  private let limit: Int
  private let state = NIOLockedValueBox(State())
  private let take: @Sendable (Deque<Element>) -> Void

  /// - Parameters:
  ///   - queue: A serial queue.
  ///   - limit: How many bytes may wait.
  ///   - take: Is called on the queue, with the elements in the order in which they came.
  package init(
    on queue: DispatchQueue, limit: Int, take: @escaping @Sendable (Deque<Element>) -> Void
  ) {
    self.queue = queue
    self.limit = limit
    self.take = take
  }

  /// Adds an element, if its bytes fit. One of no bytes always does.
  ///
  /// - Returns: nil; or how many bytes wait already, if it does not fit.
  package func add(_ element: Element, bytes: Int = 0) -> Int? {
    let (full, schedules) = state.withLockedValue { state -> (Int?, Bool) in
      guard bytes == 0 || state.bytes + bytes <= limit else { return (state.bytes, false) }
      state.waiting.append(element)
      state.bytes += bytes
      defer { state.isScheduled = true }
      return (nil, !state.isScheduled)
    }
    // A batch is handled after all that the queue had to do when its first element came.
    if schedules { queue.async { self.drain() } }
    return full
  }

  private func drain() {
    while let batch = next() { take(batch) }
  }

  private func next() -> Deque<Element>? {
    state.withLockedValue { state in
      guard !state.waiting.isEmpty else {
        state.isScheduled = false
        return nil
      }
      defer { (state.waiting, state.bytes) = ([], 0) }
      return state.waiting
    }
  }
}
