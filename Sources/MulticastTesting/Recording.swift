import Multicast

/// What a recorder has recorded, and the tasks that wait for more.
final class Recording<Element: Sendable>: Sendable {
  private struct Entry {
    enum Progress { case blocking, begun, recorded, taken }

    let number: UInt64?
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

    /// - Parameter element: Nil if the task is cancelled.
    func end(with element: Element?) {
      let resume = { @Sendable in continuation.resume(returning: element) }
      guard let director else { return resume() }
      director.endWait(inCall: false, early: element == nil, resume)
    }
  }

  private struct State {
    var entries: [Entry] = []
    /// The position of the first entry that has not been taken.
    var first = 0
    var waits: [Wait] = []
    var lastWait = 0

    /// Takes the first element that matches and has not been taken, unless an earlier one that matches blocks it.
    mutating func take(where matches: (Element) -> Bool) -> Element? {
      let index = entries[first...].firstIndex { entry in
        (entry.progress == .recorded || entry.progress == .blocking) && matches(entry.element)
      }
      guard let index, entries[index].progress == .recorded else { return nil }
      entries[index].progress = .taken
      while first < entries.count, entries[first].progress == .taken { first += 1 }
      return entries[index].element
    }

    /// Records an element at the position where it has begun, or as the last one.
    mutating func record(_ element: Element, number: UInt64?) {
      let entry = Entry(number: number, element: element, progress: .recorded)
      // An element without a number has not begun. It is not searched for, because there may be very many.
      let begun = number.flatMap { number in entries.lastIndex { $0.number == number } }
      if let begun { entries[begun] = entry } else { entries.append(entry) }
    }
  }

  private let state = Locked(State())

  /// The recorded elements, even those that were taken.
  var all: [Element] { elements([.recorded, .taken]) }

  /// The recorded elements that were not taken.
  var remaining: [Element] { elements([.recorded]) }

  /// A line for each element, even for one that is not recorded yet.
  private var lines: [String] {
    state.withLock(\.entries).enumerated().map { index, entry in
      let isRecorded = [.recorded, .taken].contains(entry.progress)
      return "\(index + 1). \(entry.element)\(isRecorded ? "" : ", has not ended")"
    }
  }

  private func elements(_ progress: Set<Entry.Progress>) -> [Element] {
    state.withLock { state in
      state.entries.filter { progress.contains($0.progress) }.map(\.element)
    }
  }

  /// Gives an element its position, before it is recorded.
  ///
  /// - Parameters:
  ///   - number: A number that no other element has, with which you record the element.
  ///   - blocks: Whether `next` waits for this element if it matches, although a later one that matches is recorded.
  func begin(_ element: Element, number: UInt64, blocks: Bool) {
    state.withLock { state in
      state.entries.append(
        Entry(number: number, element: element, progress: blocks ? .blocking : .begun))
    }
  }

  /// Records an element, and passes it to the first task that waits for it.
  ///
  /// - Parameter number: The number with which the element has begun; nil if it has not.
  func add(_ element: Element, number: UInt64? = nil) {
    let served = state.withLock { state in
      state.record(element, number: number)
      // One task takes this element. Others may take later ones, which were recorded before it.
      var served: [(wait: Wait, element: Element)] = []
      for wait in state.waits where wait.matches(element) {
        if let first = state.take(where: wait.matches) { served.append((wait, first)) }
        if state.first == state.entries.count { break }
      }
      state.waits.removeAll { wait in served.contains { $0.wait.number == wait.number } }
      return served
    }
    for (wait, element) in served { wait.end(with: element) }
  }

  /// Takes the first element that matches and has not been taken, and waits until there is one.
  ///
  /// - Parameter wanted: What the test waits for.
  /// - Throws: ``NothingRecorded`` if the task is cancelled.
  func next(
    _ wanted: String, where matches: @escaping @Sendable (Element) -> Bool = { _ in true }
  ) async throws(NothingRecorded) -> Element {
    guard let element = await take(where: matches) else {
      throw NothingRecorded(wanted, in: lines)
    }
    return element
  }

  /// Returns nil if the task is cancelled.
  private func take(where matches: @escaping @Sendable (Element) -> Bool) async -> Element? {
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

  /// - Parameter lines: A line for each recorded element.
  fileprivate init(_ wanted: String, in lines: [String]) {
    description =
      "The wait for \(wanted) was cancelled, as by a time limit. "
      + (lines.isEmpty
        ? "Nothing was recorded."
        : "Recorded until then:" + lines.map { "\n  \($0)" }.joined())
  }
}
