import Dispatch
import OpenCombine
import OpenCombineDispatch
import Synchronization

/// A subject for each kind, and a sink for each listener.
final class OpenCombineSubjects: System, @unchecked Sendable {
  // Unchecked, because OpenCombine does not say that its subjects may be used on any thread, which is so.
  private let subjects: [PassthroughSubject<Int, Never>]
  private let latest: CurrentValueSubject<Int, Never>?
  private let tokens = Tokens<Token>()

  private struct Token: @unchecked Sendable {
    // Unchecked, as the subjects.
    let cancellable: AnyCancellable
  }

  init(keepsLatest: Bool) {
    latest = keepsLatest ? CurrentValueSubject(0) : nil
    subjects = Kind.allCases.map { _ in PassthroughSubject<Int, Never>() }
  }

  private func publisher(_ kind: Kind) -> AnyPublisher<Int, Never> {
    if let latest { return latest.eraseToAnyPublisher() }
    return subjects[kind.rawValue].eraseToAnyPublisher()
  }

  func add(_ listener: Listener, at place: Place) -> Bool {
    for kind in latest == nil ? Kind.allCases : [.first] {
      var numbers = publisher(kind)
      switch place {
      case .here: break
      case .queue(let queue): numbers = numbers.receive(on: queue.ocombine).eraseToAnyPublisher()
      case .mainActor:
        numbers = numbers.receive(on: DispatchQueue.main.ocombine).eraseToAnyPublisher()
      }
      let sink = numbers.sink { [journal = listener.journal, weak listener] number in
        journal.calls.add(1, ordering: .relaxed)
        listener?.hear(number, kind)
      }
      tokens.keep(Token(cancellable: sink), for: listener)
    }
    return true
  }

  func add(_ value: ValueListener) {
    let sink = publisher(.first).sink { value.hear($0, .first) }
    tokens.keep(Token(cancellable: sink), for: value.journal)
  }

  func remove(_ listener: Listener) {
    for token in tokens.take(for: listener) { token.cancellable.cancel() }
  }

  func send(_ number: Int, _ kind: Kind, line: Int) {
    if let latest { latest.send(number) } else { subjects[kind.rawValue].send(number) }
  }
}
