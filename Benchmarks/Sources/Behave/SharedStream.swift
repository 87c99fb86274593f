import AsyncAlgorithms

/// One stream for each kind, shared by a task for each listener.
@available(macOS 15, *)
final class SharedStream: System {
  private typealias Numbers = any AsyncSequence<Int, Never> & Sendable

  private let continuations: [AsyncStream<Int>.Continuation]
  private let numbers: [Numbers]
  private let tokens = Tokens<Task<Void, Never>>()

  static var isSynchronous: Bool { false }

  init(keepsLatest: Bool) {
    let streams = Kind.allCases.map { _ in AsyncStream.makeStream(of: Int.self) }
    continuations = streams.map(\.continuation)
    numbers = streams.map { $0.stream.share(bufferingPolicy: .unbounded) }
  }

  func add(_ listener: Listener, at place: Place) -> Bool {
    if case .queue = place { return false }
    for kind in Kind.allCases {
      let numbers = numbers[kind.rawValue]
      let journal = listener.journal
      if case .mainActor = place {
        tokens.keep(
          Task { @MainActor [weak listener] in
            for await number in numbers {
              journal.calls.add(1, ordering: .relaxed)
              listener?.hear(number, kind)
            }
          }, for: listener)
      } else {
        tokens.keep(
          Task { [weak listener] in
            for await number in numbers {
              journal.calls.add(1, ordering: .relaxed)
              listener?.hear(number, kind)
            }
          }, for: listener)
      }
    }
    return true
  }

  func add(_ value: ValueListener) {
    let numbers = numbers[0]
    Task { for await number in numbers { value.hear(number, .first) } }
  }

  func remove(_ listener: Listener) {
    for task in tokens.take(for: listener) { task.cancel() }
  }

  func send(_ number: Int, _ kind: Kind, line: Int) { continuations[kind.rawValue].yield(number) }
}
