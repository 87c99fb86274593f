import Multicast

/// What a recorder has recorded, and the tasks that wait for more.
final class Recording<Element: Sendable>: Sendable {
  private struct Entry {
    enum Progress { case begun, recorded, taken }

    /// The place of the element among the others.
    let number: UInt64

    var element: Element
    var progress: Progress
  }

  /// A task that waits for an element.
  private struct Wait {
    let number: Int
    let matches: @Sendable (Element) -> Bool
    let continuation: CheckedContinuation<Element?, Never>

    /// The director of the exploration that the task belongs to; nil outside an exploration.
    let director = Director.current

    func end(with element: Element?) {
      let resume = { @Sendable in continuation.resume(returning: element) }
      if let director { director.endWait(inCall: false, resume) } else { resume() }
    }
  }

  private struct State {
    var entries: [Entry] = []
    var waits: [Wait] = []
    var lastWait = 0

    /// Takes the first element that matches and has not been taken, unless it is not recorded yet.
    mutating func take(where matches: (Element) -> Bool) -> Element? {
      let index = entries.firstIndex { $0.progress != .taken && matches($0.element) }
      guard let index, entries[index].progress == .recorded else { return nil }
      entries[index].progress = .taken
      return entries[index].element
    }

    /// Puts an element in its place, where it may have begun.
    mutating func put(_ element: Element, number: UInt64?, _ progress: Entry.Progress) {
      let number = number ?? (entries.last?.number ?? 0) + 1
      let entry = Entry(number: number, element: element, progress: progress)
      let before = entries.lastIndex { $0.number <= number }
      if let before, entries[before].number == number {
        entries[before] = entry
      } else {
        entries.insert(entry, at: before.map { $0 + 1 } ?? 0)
      }
    }
  }

  private let state = Locked(State())

  /// The recorded elements, even those that were taken.
  var all: [Element] { elements { $0 != .begun } }

  /// The recorded elements that were not taken.
  var remaining: [Element] { elements { $0 == .recorded } }

  /// A line for each element, even for one that is not recorded yet.
  fileprivate var lines: [String] {
    state.withLock(\.entries).enumerated().map { index, entry in
      "\(index + 1). \(entry.element)\(entry.progress == .begun ? ", has not ended" : "")"
    }
  }

  private func elements(where isWanted: (Entry.Progress) -> Bool) -> [Element] {
    state.withLock { state in
      state.entries.filter { isWanted($0.progress) }.map(\.element)
    }
  }

  /// Reserves the place of an element that will be recorded. Until then, `next(where:)` takes no later one if this one matches, too.
  func begin(_ element: Element, number: UInt64) {
    state.withLock { $0.put(element, number: number, .begun) }
  }

  /// Records an element, and passes it to the first task that waits for it.
  ///
  /// - Parameter number: The place of the element among the others; nil for the last place.
  func add(_ element: Element, number: UInt64? = nil) {
    let served = state.withLock { state in
      state.put(element, number: number, .recorded)
      // One task takes this element. Others may take later ones, which were recorded before it.
      var served: [(wait: Wait, element: Element)] = []
      for wait in state.waits where wait.matches(element) {
        if let first = state.take(where: wait.matches) { served.append((wait, first)) }
      }
      state.waits.removeAll { wait in served.contains { $0.wait.number == wait.number } }
      return served
    }
    for (wait, element) in served { wait.end(with: element) }
  }

  /// Takes the first element that matches and has not been taken, and waits until there is one. Returns nil if the task is
  /// cancelled.
  func next(where matches: @escaping @Sendable (Element) -> Bool) async -> Element? {
    let number = state.withLock { state in
      state.lastWait += 1
      return state.lastWait
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (isDecided, element) = state.withLock { state in
          if let element = state.take(where: matches) { return (true, element as Element?) }
          // Checks for cancellation with the lock held. A cancellation that comes later takes the lock, too, and finds the
          // wait.
          if Task.isCancelled { return (true, nil) }
          state.waits.append(
            Wait(number: number, matches: matches, continuation: continuation))
          return (false, nil)
        }
        if isDecided {
          continuation.resume(returning: element)
        } else {
          Director.current?.beginWait(inCall: false)
        }
      }
    } onCancel: {
      let wait = state.withLock { state in
        state.waits.firstIndex { $0.number == number }.map { state.waits.remove(at: $0) }
      }
      wait?.end(with: nil)
    }
  }
}

/// The error of a recorder's `next()` whose task was cancelled, for example by a test's time limit.
public struct NothingRecorded: Error, CustomStringConvertible {
  /// What the test waited for, and what was recorded until then.
  public let description: String

  init<Element>(_ wanted: String, in recording: Recording<Element>) {
    let lines = recording.lines
    description =
      "The wait for \(wanted) was cancelled, as by a time limit. "
      + (lines.isEmpty
        ? "Nothing was recorded."
        : "Recorded until then:" + lines.map { "\n  \($0)" }.joined())
  }
}
