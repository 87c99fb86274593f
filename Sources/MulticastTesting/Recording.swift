import Multicast

/// What a recorder has recorded, and the tasks that wait for more.
final class Recording<Element: Sendable>: Sendable {
  private struct Entry {
    let element: Element
    var isTaken = false
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

    /// Takes the first element that matches and has not been taken.
    mutating func take(where matches: (Element) -> Bool) -> Element? {
      guard let index = entries.firstIndex(where: { !$0.isTaken && matches($0.element) }) else {
        return nil
      }
      entries[index].isTaken = true
      return entries[index].element
    }
  }

  private let state = Locked(State())

  var all: [Element] { state.withLock { state in state.entries.map(\.element) } }

  var remaining: [Element] {
    state.withLock { state in state.entries.filter { !$0.isTaken }.map(\.element) }
  }

  /// Inserts an element behind the last one that does not follow it. Passes it to the first task that waits for it.
  ///
  /// - Parameter follows: Returns whether another element comes after the new one.
  func add(_ element: Element, before follows: (Element) -> Bool = { _ in false }) {
    let served = state.withLock { state in
      let index = state.entries.lastIndex { !follows($0.element) }.map { $0 + 1 } ?? 0
      state.entries.insert(Entry(element: element), at: index)
      // A task that waits has found no element that matches, so the new one is the first that does.
      guard let wait = state.waits.firstIndex(where: { $0.matches(element) }) else {
        return nil as Wait?
      }
      state.entries[index].isTaken = true
      return state.waits.remove(at: wait)
    }
    served?.end(with: element)
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
    let all = recording.all
    let records = all.enumerated().map { "\n  \($0.offset + 1). \($0.element)" }.joined()
    description =
      "The wait for \(wanted) was cancelled, as by a time limit. "
      + (all.isEmpty ? "Nothing was recorded." : "Recorded until then:\(records)")
  }
}
