import Dispatch
import Multicast

/// Collects elements from any thread, in the order in which they are added.
package final class Collected<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var waits:
      [(condition: @Sendable ([Element]) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
        []
  }

  private let state = Locked(State())

  package init() {}

  package var all: [Element] { state.withLock { $0.elements } }

  package func add(_ element: Element) {
    let ended = state.withLock { state in
      state.elements.append(element)
      if state.waits.isEmpty { return [CheckedContinuation<Void, Never>]() }
      let ended = state.waits.filter { $0.condition(state.elements) }
      state.waits.removeAll { $0.condition(state.elements) }
      return ended.map(\.continuation)
    }
    for wait in ended { wait.resume() }
  }

  /// Returns the elements so far, and removes them.
  package func take() -> [Element] {
    state.withLock { state in
      defer { state.elements = [] }
      return state.elements
    }
  }

  /// Returns when `count` elements have been collected.
  package func wait(for count: Int) async { await wait { $0.count >= count } }

  /// Returns when a condition is true of the collected elements.
  package func wait(until condition: @escaping @Sendable ([Element]) -> Bool) async {
    await withCheckedContinuation { continuation in
      let holds = state.withLock { state in
        if condition(state.elements) { return true }
        state.waits.append((condition, continuation))
        return false
      }
      if holds { continuation.resume() }
    }
  }
}

package typealias Numbers = Collected<Int>

/// A record of events, each a word or two.
package typealias Journal = Collected<String>

extension Journal {
  package func write(_ entry: String) { add(entry) }

  /// Returns the entries so far, joined by spaces, and removes them.
  package func read() -> String { take().joined(separator: " ") }
}

/// Retains one or more objects until the process exits, because a release build may release them after their last use.
package func kept<Objects>(_ objects: Objects) -> Objects {
  _ = Unmanaged.passRetained(objects as AnyObject)
  return objects
}

/// Collects the reports of refused notifies.
package final class Reports: Sendable {
  private let reports = Collected<RecursiveNotify>()

  /// A center that reports here.
  package let center: MulticastCenter

  package init() {
    center = MulticastCenter(onRecursion: reports.add)
  }

  /// Pass this as `onRecursion`.
  package var handler: @Sendable (RecursiveNotify) -> Void { reports.add }

  package var all: [RecursiveNotify] { reports.all }
}

/// An object that calls a closure in its `deinit`. A closure captures it, so that a test notices when the closure is released.
package final class Sentinel: Sendable {
  private let atEnd: @Sendable () -> Void

  package init(_ atEnd: @escaping @Sendable () -> Void) {
    self.atEnd = atEnd
  }

  package convenience init(_ journal: Journal) {
    self.init { journal.write("end") }
  }

  deinit { atEnd() }
}

/// Runs `body` on another thread, and returns when `body` has returned.
package func onNewThread(_ body: @escaping @Sendable () -> Void) {
  let done = DispatchSemaphore(value: 0)
  DispatchQueue(label: "test").async {
    body()
    done.signal()
  }
  done.wait()
}

/// Runs `body` concurrently `count` times, and returns when all calls have returned.
package func onThreads(_ count: Int, _ body: @Sendable (Int) -> Void) {
  DispatchQueue.concurrentPerform(iterations: count, execute: body)
}
