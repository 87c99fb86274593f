import Dispatch
import Multicast

/// Collects what happens, in its order.
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

  /// Returns what was collected, and forgets it.
  package func take() -> [Element] {
    state.withLock { state in
      defer { state.elements = [] }
      return state.elements
    }
  }

  /// Returns when so many have been collected.
  package func wait(for count: Int) async { await wait { $0.count >= count } }

  /// Returns when a condition holds for what has been collected.
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

/// What happened, in words.
package typealias Journal = Collected<String>

extension Journal {
  package func write(_ entry: String) { add(entry) }

  /// Returns the entries so far, joined, and forgets them.
  package func read() -> String { take().joined(separator: " ") }
}

/// Keeps an object, or several, to the end of the process: a release build may end them after their last use.
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

  /// To be passed as `onRecursion`.
  package var handler: @Sendable (RecursiveNotify) -> Void { reports.add }

  package var all: [RecursiveNotify] { reports.all }
}

/// An object that does something at its end, to be captured by what ought to end.
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

/// Runs `body` on another thread, and returns when it has ended.
package func onNewThread(_ body: @escaping @Sendable () -> Void) {
  let done = DispatchSemaphore(value: 0)
  DispatchQueue(label: "test").async {
    body()
    done.signal()
  }
  done.wait()
}

/// Runs `body` on `count` threads at once, and returns when all have ended.
package func onThreads(_ count: Int, _ body: @Sendable (Int) -> Void) {
  DispatchQueue.concurrentPerform(iterations: count, execute: body)
}
