import Synchronization

/// A stream and a task for each listener and kind.
final class StreamFanOut: System {
  private typealias Continuation = AsyncStream<Int>.Continuation

  private let continuations = Mutex<[[(id: Int, continuation: Continuation)]]>(
    Kind.allCases.map { _ in [] })
  private let next = Atomic<Int>(0)
  private let tokens = Tokens<Int>()

  static var isSynchronous: Bool { false }

  init(keepsLatest: Bool) {}

  private func makeStream(_ kind: Kind) -> (AsyncStream<Int>, id: Int) {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let id = next.add(1, ordering: .relaxed).newValue
    continuations.withLock { $0[kind.rawValue].append((id, continuation)) }
    return (stream, id)
  }

  func add(_ listener: Listener, at place: Place) -> Bool {
    if case .queue = place { return false }
    for kind in Kind.allCases {
      let (stream, id) = makeStream(kind)
      tokens.keep(id, for: listener)
      let journal = listener.journal
      if case .mainActor = place {
        Task { @MainActor [weak listener] in
          for await number in stream {
            journal.calls.add(1, ordering: .relaxed)
            listener?.hear(number, kind)
          }
        }
      } else {
        Task { [weak listener] in
          for await number in stream {
            journal.calls.add(1, ordering: .relaxed)
            listener?.hear(number, kind)
          }
        }
      }
    }
    return true
  }

  func add(_ value: ValueListener) {
    let stream = makeStream(.first).0
    Task { for await number in stream { value.hear(number, .first) } }
  }

  func remove(_ listener: Listener) {
    let ended = Set(tokens.take(for: listener))
    let removed = continuations.withLock { continuations in
      let removed = continuations.joined().filter { ended.contains($0.id) }
      for kind in Kind.allCases { continuations[kind.rawValue].removeAll { ended.contains($0.id) } }
      return removed
    }
    for (_, continuation) in removed { continuation.finish() }
  }

  func send(_ number: Int, _ kind: Kind, line: Int) {
    for (_, continuation) in continuations.withLock({ $0[kind.rawValue] }) {
      continuation.yield(number)
    }
  }
}
