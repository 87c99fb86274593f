import Foundation
import Synchronization

/// Closures, names and dictionaries.
final class NotificationClosures: System {
  private struct Token: @unchecked Sendable {
    // Unchecked: the token is handed back to the center, which any thread may do, and nothing else.
    let object: any NSObjectProtocol
    /// The center does not keep it.
    var queue: OperationQueue?
  }

  private let center = NotificationCenter()
  private let tokens = Tokens<Token>()

  init(keepsLatest: Bool) {}

  private func name(_ kind: Kind) -> Notification.Name { Notification.Name("\(kind)") }

  func add(_ listener: Listener, at place: Place) -> Bool {
    let queue: OperationQueue? =
      switch place {
      case .here: nil
      case .mainActor: .main
      case .queue: Self.serialQueue()
      }
    for kind in Kind.allCases {
      let token = center.addObserver(forName: name(kind), object: nil, queue: queue) {
        [journal = listener.journal, weak listener] notification in
        journal.calls.add(1, ordering: .relaxed)
        if let number = notification.userInfo?["number"] as? Int { listener?.hear(number, kind) }
      }
      tokens.keep(Token(object: token, queue: queue), for: listener)
    }
    return true
  }

  private static func serialQueue() -> OperationQueue {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    return queue
  }

  func add(_ value: ValueListener) {
    _ = center.addObserver(forName: name(.first), object: nil, queue: nil) { notification in
      if let number = notification.userInfo?["number"] as? Int { value.hear(number, .first) }
    }
  }

  func remove(_ listener: Listener) {
    for token in tokens.take(for: listener) { center.removeObserver(token.object) }
  }

  func send(_ number: Int, _ kind: Kind, line: Int) {
    center.post(name: name(kind), object: nil, userInfo: ["number": number])
  }
}

/// What typed messages are about.
final class Subject: Sendable {}

/// Typed messages of the main actor. Who is elsewhere has to get there first.
@available(macOS 26, *)
final class NotificationMainActor: System {
  private struct First: NotificationCenter.MainActorMessage {
    typealias Subject = Behave.Subject
    let number: Int
  }

  private struct Second: NotificationCenter.MainActorMessage {
    typealias Subject = Behave.Subject
    let number: Int
  }

  private let center = NotificationCenter()
  private let tokens = Tokens<NotificationCenter.ObservationToken>()

  static var isSynchronous: Bool { false }

  init(keepsLatest: Bool) {}

  func add(_ listener: Listener, at place: Place) -> Bool {
    if case .queue = place { return false }
    let journal = listener.journal
    let tokens = [
      center.addObserver(for: First.self) { [weak listener] in
        journal.calls.add(1, ordering: .relaxed)
        listener?.hear($0.number, .first)
      },
      center.addObserver(for: Second.self) { [weak listener] in
        journal.calls.add(1, ordering: .relaxed)
        listener?.hear($0.number, .second)
      },
    ]
    for token in tokens { self.tokens.keep(token, for: listener) }
    return true
  }

  func add(_ value: ValueListener) {
    tokens.keep(
      center.addObserver(for: First.self) { value.hear($0.number, .first) }, for: value.journal)
  }

  func remove(_ listener: Listener) {
    for token in tokens.take(for: listener) { center.removeObserver(token) }
  }

  func send(_ number: Int, _ kind: Kind, line: Int) {
    if MainQueue.isCurrent {
      MainActor.assumeIsolated { post(number, kind) }
    } else {
      Task { @MainActor in post(number, kind) }
    }
  }

  @MainActor private func post(_ number: Int, _ kind: Kind) {
    switch kind {
    case .first: center.post(First(number: number))
    case .second: center.post(Second(number: number))
    }
  }
}

/// Typed messages of any thread.
@available(macOS 26, *)
final class NotificationAsync: System {
  private struct First: NotificationCenter.AsyncMessage {
    typealias Subject = Behave.Subject
    let number: Int
  }

  private struct Second: NotificationCenter.AsyncMessage {
    typealias Subject = Behave.Subject
    let number: Int
  }

  private let center = NotificationCenter()
  private let tokens = Tokens<NotificationCenter.ObservationToken>()

  static var isSynchronous: Bool { false }

  init(keepsLatest: Bool) {}

  func add(_ listener: Listener, at place: Place) -> Bool {
    let journal = listener.journal
    @Sendable func call(_ listener: Listener?, _ number: Int, _ kind: Kind) {
      journal.calls.add(1, ordering: .relaxed)
      listener?.hear(number, kind)
    }
    let added: [NotificationCenter.ObservationToken]
    switch place {
    case .queue: return false
    case .here:
      added = [
        center.addObserver(for: First.self) { [weak listener] in call(listener, $0.number, .first)
        },
        center.addObserver(for: Second.self) { [weak listener] in
          call(listener, $0.number, .second)
        },
      ]
    case .mainActor:
      added = [
        center.addObserver(for: First.self) { @MainActor [weak listener] in
          call(listener, $0.number, .first)
        },
        center.addObserver(for: Second.self) { @MainActor [weak listener] in
          call(listener, $0.number, .second)
        },
      ]
    }
    for token in added { tokens.keep(token, for: listener) }
    return true
  }

  func add(_ value: ValueListener) {
    tokens.keep(
      center.addObserver(for: First.self) { value.hear($0.number, .first) }, for: value.journal)
  }

  func remove(_ listener: Listener) {
    for token in tokens.take(for: listener) { center.removeObserver(token) }
  }

  func send(_ number: Int, _ kind: Kind, line: Int) {
    switch kind {
    case .first: center.post(First(number: number))
    case .second: center.post(Second(number: number))
    }
  }
}
