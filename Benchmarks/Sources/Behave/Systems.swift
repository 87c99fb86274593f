import AsyncAlgorithms
import Dispatch
import Foundation
import Multicast
import OpenCombine
import OpenCombineDispatch
import Synchronization

@available(macOS 26, *)
extension System {
  /// The table's columns.
  static let all: [(name: String, title: String, make: @Sendable (_ keepsLatest: Bool) -> System)] =
    [
      ("multicast-notify", "Multicast `notify`", { _ in multicastNotify() }),
      ("multicast-post", "Multicast `post`", { $0 ? multicastLatest() : multicastPost() }),
      ("notification", "NotificationCenter, closures", { _ in notificationClosures() }),
      ("main-actor-message", "`MainActorMessage`", { _ in mainActorMessages() }),
      ("async-message", "`AsyncMessage`", { _ in asyncMessages() }),
      ("opencombine", "OpenCombine", { openCombine(keepsLatest: $0) }),
      ("weak-array", "weak array", { _ in weakArray() }),
      ("stream", "AsyncStream fan-out", { _ in streamFanOut() }),
      ("share", "`share()` of AsyncAlgorithms", { _ in sharedStream() }),
    ]

  // MARK: - Multicast

  private static func multicastNotify() -> System {
    let center = MulticastCenter(onRecursion: { _ in })
    return System(
      add: { listener, place in
        guard case .here = place else { return false }
        center.add(listener, for: Ear.self)
        return true
      },
      addValue: { center.add($0, for: Ear.self) },
      remove: { center.remove($0, for: Ear.self) },
      deliver: { number, kind, line in
        center.notify(Ear.self, line: line) { $0.hear(number, kind) }
      },
      sendThrowing: { number in try center.notify(Ear.self) { try $0.tryToHear(number) } })
  }

  private static func multicastPost() -> System {
    let center = MulticastCenter(onRecursion: { _ in })
    return System(
      add: { listener, place in
        switch place {
        case .here: center.add(listener, for: Ear.self)
        case .queue(let queue): center.add(listener, for: Ear.self, on: queue)
        case .mainActor: center.add(listener, for: Ear.self, on: .main)
        }
        return true
      },
      addValue: { center.add($0, for: Ear.self) },
      remove: { center.remove($0, for: Ear.self) },
      deliver: { number, kind, line in center.post(Ear.self, line: line) { $0.hear(number, kind) } }
    )
  }

  private static func multicastLatest() -> System {
    let center = MulticastCenter(onRecursion: { _ in })
    let latest = Topic<Int>("latest", keepsLatest: true)
    return System(
      add: { listener, _ in
        center.observe(latest, owner: listener) { $0.hear($1, .first) }
        return true
      },
      addValue: { _ in }, remove: { _ in },
      deliver: { number, _, line in center.post(latest, number, line: line) })
  }

  // MARK: - Foundation

  /// Closures, names and dictionaries.
  private static func notificationClosures() -> System {
    let center = NotificationCenter()
    @Sendable func name(_ kind: Kind) -> Notification.Name { Notification.Name("\(kind)") }
    return System(
      subscribe: { target, kind, place -> (any NSObjectProtocol, OperationQueue?)? in
        var queue: OperationQueue?
        switch place {
        case .here: break
        case .mainActor: queue = .main
        case .queue:
          queue = OperationQueue()
          queue?.maxConcurrentOperationCount = 1
        }
        let token = center.addObserver(forName: name(kind), object: nil, queue: queue) {
          if let number = $0.userInfo?["number"] as? Int {
            target.hear(number, kind)
          }
        }
        // The center does not keep the queue.
        return (token, queue)
      },
      cancel: { center.removeObserver($0.0) },
      deliver: { number, kind, _ in
        center.post(name: name(kind), object: nil, userInfo: ["number": number])
      })
  }

  /// What typed messages are about.
  private final class Subject: Sendable {}

  private enum MainActorMessages {
    struct First: NotificationCenter.MainActorMessage {
      typealias Subject = System.Subject
      let number: Int
    }

    struct Second: NotificationCenter.MainActorMessage {
      typealias Subject = System.Subject
      let number: Int
    }
  }

  private protocol AsyncMessage: NotificationCenter.AsyncMessage {
    var number: Int { get }
  }

  private enum AsyncMessages {
    struct First: AsyncMessage {
      typealias Subject = System.Subject
      let number: Int
    }

    struct Second: AsyncMessage {
      typealias Subject = System.Subject
      let number: Int
    }
  }

  /// Typed messages of the main actor. Who is elsewhere has to get there first.
  private static func mainActorMessages() -> System {
    let center = NotificationCenter()
    let post: @MainActor @Sendable (Int, Kind) -> Void = { number, kind in
      switch kind {
      case .first: center.post(MainActorMessages.First(number: number))
      case .second: center.post(MainActorMessages.Second(number: number))
      }
    }
    return System(
      isSynchronous: false,
      subscribe: { target, kind, place in
        if case .queue = place { return nil }
        return switch kind {
        case .first:
          center.addObserver(for: MainActorMessages.First.self) { target.hear($0.number, kind) }
        case .second:
          center.addObserver(for: MainActorMessages.Second.self) { target.hear($0.number, kind) }
        }
      },
      cancel: { center.removeObserver($0) },
      deliver: { number, kind, _ in
        if MainQueue.isCurrent {
          MainActor.assumeIsolated { post(number, kind) }
        } else {
          Task { @MainActor in post(number, kind) }
        }
      })
  }

  /// Typed messages of any thread.
  private static func asyncMessages() -> System {
    let center = NotificationCenter()
    @Sendable func observe<Message: AsyncMessage>(
      _ message: Message.Type, _ target: Target, _ kind: Kind, _ place: Place
    ) -> NotificationCenter.ObservationToken? where Message.Subject == Subject {
      switch place {
      case .queue: nil
      case .here: center.addObserver(for: message) { target.hear($0.number, kind) }
      case .mainActor:
        center.addObserver(for: message) { @MainActor in target.hear($0.number, kind) }
      }
    }
    return System(
      isSynchronous: false,
      subscribe: { target, kind, place in
        switch kind {
        case .first: observe(AsyncMessages.First.self, target, kind, place)
        case .second: observe(AsyncMessages.Second.self, target, kind, place)
        }
      },
      cancel: { center.removeObserver($0) },
      deliver: { number, kind, _ in
        switch kind {
        case .first: center.post(AsyncMessages.First(number: number))
        case .second: center.post(AsyncMessages.Second(number: number))
        }
      })
  }

  // MARK: - OpenCombine

  /// A subject for each kind, and a sink for each listener.
  private static func openCombine(keepsLatest: Bool) -> System {
    // Unsafe, because OpenCombine does not say that its subjects may be used on any thread, which is so.
    nonisolated(unsafe) let subjects = Kind.allCases.map { _ in PassthroughSubject<Int, Never>() }
    nonisolated(unsafe) let latest = keepsLatest ? CurrentValueSubject<Int, Never>(0) : nil
    return System(
      kinds: keepsLatest ? [.first] : Kind.allCases,
      subscribe: { target, kind, place in
        var numbers =
          latest?.eraseToAnyPublisher() ?? subjects[kind.rawValue].eraseToAnyPublisher()
        switch place {
        case .here: break
        case .queue(let queue): numbers = numbers.receive(on: queue.ocombine).eraseToAnyPublisher()
        case .mainActor:
          numbers = numbers.receive(on: DispatchQueue.main.ocombine).eraseToAnyPublisher()
        }
        return numbers.sink { target.hear($0, kind) }
      },
      cancel: { $0.cancel() },
      deliver: { number, kind, _ in
        if let latest { latest.send(number) } else { subjects[kind.rawValue].send(number) }
      })
  }

  // MARK: - By hand

  private struct WeakReference {
    weak var object: AnyObject?
    let place: Place
  }

  /// What is written by hand in many programs: an array of weak references, without a lock.
  private static func weakArray() -> System {
    // Unsafe, and so it is: that is how it behaves.
    nonisolated(unsafe) var references: [WeakReference] = []
    return System(
      add: { listener, place in
        references.append(WeakReference(object: listener, place: place))
        return true
      },
      addValue: { references.append(WeakReference(object: $0 as AnyObject, place: .here)) },
      remove: { listener in references.removeAll { $0.object === listener } },
      deliver: { number, kind, _ in
        for reference in references {
          guard let ear = reference.object as? any Ear else { continue }
          guard let listener = ear as? Listener else {
            ear.hear(number, kind)
            continue
          }
          switch reference.place {
          case .here: listener.hear(number, kind)
          case .queue(let queue): queue.async { listener.hear(number, kind) }
          case .mainActor: Task { @MainActor in listener.hear(number, kind) }
          }
        }
      },
      sendThrowing: { number in
        for reference in references { try (reference.object as? any Ear)?.tryToHear(number) }
      })
  }

  // MARK: - Streams

  /// A stream and a task for each listener and kind.
  private static func streamFanOut() -> System {
    let continuations = Mutex<[[(id: Int, continuation: AsyncStream<Int>.Continuation)]]>(
      Kind.allCases.map { _ in [] })
    let next = Atomic<Int>(0)
    return System(
      isSynchronous: false,
      subscribe: { target, kind, place -> Int? in
        if case .queue = place { return nil }
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let id = next.add(1, ordering: .relaxed).newValue
        continuations.withLock { $0[kind.rawValue].append((id, continuation)) }
        read(stream, target, kind, place)
        return id
      },
      cancel: { ended in
        let removed = continuations.withLock { continuations in
          let removed = continuations.joined().filter { $0.id == ended }
          for kind in Kind.allCases { continuations[kind.rawValue].removeAll { $0.id == ended } }
          return removed
        }
        for one in removed { one.continuation.finish() }
      },
      deliver: { number, kind, _ in
        for one in continuations.withLock({ $0[kind.rawValue] }) { one.continuation.yield(number) }
      })
  }

  /// One stream for each kind, shared by a task for each listener.
  private static func sharedStream() -> System {
    let streams = Kind.allCases.map { _ in AsyncStream.makeStream(of: Int.self) }
    let shared = streams.map { $0.stream.share(bufferingPolicy: .unbounded) }
    return System(
      isSynchronous: false,
      subscribe: { target, kind, place -> Task<Void, Never>? in
        if case .queue = place { return nil }
        return read(shared[kind.rawValue], target, kind, place)
      },
      cancel: { $0.cancel() },
      deliver: { number, kind, _ in streams[kind.rawValue].continuation.yield(number) })
  }

  @discardableResult
  private static func read(
    _ numbers: some AsyncSequence<Int, Never> & Sendable, _ target: Target, _ kind: Kind,
    _ place: Place
  ) -> Task<Void, Never> {
    if case .mainActor = place {
      Task { @MainActor in for await number in numbers { target.hear(number, kind) } }
    } else {
      Task { for await number in numbers { target.hear(number, kind) } }
    }
  }
}
