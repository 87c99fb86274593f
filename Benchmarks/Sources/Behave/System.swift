import AsyncAlgorithms
import Dispatch
import Foundation
import Multicast
import OpenCombine
import OpenCombineDispatch
import OtherSystems
import Synchronization
import Systems

/// A way to tell many listeners a number, used as its documentation shows it: a column of the table.
struct System: Sendable {
  /// Has a listener called. Returns false if the system has no such place.
  let add: @Sendable (any Ear, Place) -> Bool

  let remove: @Sendable (Listener) -> Void

  /// Sends an event of kind 0 or 1, from a line of the program, by which Multicast knows loops.
  let deliver: @Sendable (_ number: Int, _ kind: Int, _ line: Int) -> Void

  /// Calls what may throw with each listener; nil if that cannot be written.
  var visit: (@Sendable (_ body: (any Ear) throws -> Void) throws -> Void)?

  func send(_ number: Int, kind: Int = 0, at line: Int = #line) { deliver(number, kind, line) }
}

extension System {
  /// A system that is given a closure for each listener and kind of event: a channel for each kind.
  init<Token>(_ channels: Channel<Token>...) {
    let tokens = Mutex<[ObjectIdentifier: [Kept<Token>]]>([:])
    self.init(
      add: { ear, place in
        let handler = closure(calling: ear)
        return channels.allSatisfy { channel in
          guard let kept = channel.subscribe(place, handler).map(Kept.init) else { return false }
          tokens.withLock { $0[ObjectIdentifier(ear as AnyObject), default: []].append(kept) }
          return true
        }
      },
      remove: { listener in
        let ended = tokens.withLock { $0.removeValue(forKey: ObjectIdentifier(listener)) } ?? []
        for (channel, kept) in zip(channels, ended) { channel.cancel(kept.token) }
      },
      deliver: { number, kind, _ in channels[kind].send(number) })
  }
}

private struct Kept<Token>: @unchecked Sendable {
  // Unchecked: a token is handed back to its system, which any thread may do, and nothing else.
  let token: Token
}

/// What a system is given that knows closures only: it captures an object weakly, as it should.
private func closure(calling ear: any Ear) -> @Sendable (Int) -> Void {
  guard let listener = ear as? Listener else {
    let journal = ear.journal
    return { ValueListener(journal: journal).hear($0) }
  }
  return { [weak listener, journal = listener.journal] number in
    journal.closureCalls.add(1, ordering: .relaxed)
    listener?.hear(number)
  }
}

@available(macOS 26, *)
extension System {
  /// The table's columns. Each is a process of its own, so that the default notification center is as good as another.
  static let all: [(name: String, title: String, make: @Sendable (_ keepsLatest: Bool) -> System)] =
    [
      ("multicast-notify", "Multicast `notify`", { _ in notify() }),
      ("multicast-post", "Multicast `post`", { $0 ? System(latest()) : post() }),
      (
        "notification", "NotificationCenter, closures",
        { _ in
          System(
            Channels.notifications(in: .default), Channels.notifications("second", in: .default))
        }
      ),
      (
        "main-actor-message", "`MainActorMessage`",
        { _ in System(mainActorMessages(First.self), mainActorMessages(Second.self)) }
      ),
      (
        "async-message", "`AsyncMessage`",
        { _ in System(asyncMessages(First.self), asyncMessages(Second.self)) }
      ),
      (
        "opencombine", "OpenCombine",
        {
          $0 ? System(openCombine(CurrentValueSubject(0))) : System(openCombine(), openCombine())
        }
      ),
      ("weak-array", "weak array", { _ in weakArray() }),
      ("stream", "AsyncStream fan-out", { _ in System(Channels.streams(), Channels.streams()) }),
      ("share", "`share()` of AsyncAlgorithms", { _ in System(sharedStream(), sharedStream()) }),
    ]

  // MARK: - Listener protocols, where both kinds of event are calls of one protocol

  private static func notify() -> System {
    let center = MulticastCenter(onRecursion: { _ in })
    return System(
      add: { ear, place in
        guard case .here = place else { return false }
        center.add(ear, for: Ear.self)
        return true
      },
      remove: { center.remove($0, for: Ear.self) },
      deliver: { number, _, line in center.notify(Ear.self, line: line) { $0.hear(number) } },
      visit: { body in try center.notify(Ear.self) { try body($0) } })
  }

  private static func post() -> System {
    let center = MulticastCenter(onRecursion: { _ in })
    return System(
      add: { ear, place in
        switch place {
        case .here: center.add(ear, for: Ear.self)
        case .queue(let queue): center.add(ear, for: Ear.self, on: queue)
        case .mainActor: center.add(ear, for: Ear.self, on: .main)
        }
        return true
      },
      remove: { center.remove($0, for: Ear.self) },
      deliver: { number, _, line in center.post(Ear.self, line: line) { $0.hear(number) } })
  }

  private struct WeakReference {
    weak var object: AnyObject?
    let place: Place
  }

  /// What is written by hand in many programs: an array of weak references, without a lock.
  private static func weakArray() -> System {
    // Unsafe, and so it is: that is how it behaves.
    nonisolated(unsafe) var references: [WeakReference] = []
    return System(
      add: { ear, place in
        references.append(WeakReference(object: ear as AnyObject, place: place))
        return true
      },
      remove: { listener in references.removeAll { $0.object === listener } },
      deliver: { number, _, _ in
        for reference in references {
          guard let listener = reference.object as? Listener else { continue }
          switch reference.place {
          case .here: listener.hear(number)
          case .queue(let queue): queue.async { listener.hear(number) }
          case .mainActor: Task { @MainActor in listener.hear(number) }
          }
        }
      },
      visit: { body in
        for reference in references { if let ear = reference.object as? any Ear { try body(ear) } }
      })
  }
}

// MARK: - Closures

/// The kinds of typed messages.
private enum First {}
private enum Second {}

/// What typed messages are about.
private final class Sender: Sendable {}

@available(macOS 26, *)
private struct ForMainActor<Kind>: NotificationCenter.MainActorMessage {
  typealias Subject = Sender
  let number: Int
}

@available(macOS 26, *)
private struct ForAnyone<Kind>: NotificationCenter.AsyncMessage {
  typealias Subject = Sender
  let number: Int
}

@available(macOS 26, *)
extension System {
  /// A handler whose owner is what is removed.
  private static func latest() -> Channel<Sender> {
    let center = MulticastCenter(onRecursion: { _ in })
    let latest = Topic<Int>("latest", keepsLatest: true)
    return Channel(
      subscribe: { _, handler in
        let owner = Sender()
        center.observe(latest, owner: owner) { handler($1) }
        return owner
      },
      cancel: { _ in }, send: { center.post(latest, $0) })
  }

  /// Typed messages of the main actor. Who is elsewhere has to get there first.
  private static func mainActorMessages<Kind>(
    _ kind: Kind.Type
  ) -> Channel<NotificationCenter.ObservationToken> {
    let center = NotificationCenter.default
    return Channel(
      subscribe: { place, handler in
        if case .queue = place { return nil }
        return center.addObserver(for: ForMainActor<Kind>.self) { handler($0.number) }
      },
      cancel: { center.removeObserver($0) },
      send: { number in
        let post = { @MainActor @Sendable in center.post(ForMainActor<Kind>(number: number)) }
        if MainQueue.isCurrent {
          MainActor.assumeIsolated(post)
        } else {
          Task { await post() }
        }
      })
  }

  /// Typed messages of any thread.
  private static func asyncMessages<Kind>(
    _ kind: Kind.Type
  ) -> Channel<NotificationCenter.ObservationToken> {
    let center = NotificationCenter.default
    return Channel(
      subscribe: { place, handler in
        switch place {
        case .queue: nil
        case .here: center.addObserver(for: ForAnyone<Kind>.self) { handler($0.number) }
        case .mainActor:
          center.addObserver(for: ForAnyone<Kind>.self) { @MainActor in handler($0.number) }
        }
      },
      cancel: { center.removeObserver($0) },
      send: { center.post(ForAnyone<Kind>(number: $0)) })
  }

  /// A subject, and a sink for each closure.
  private static func openCombine(
    _ subject: some Subject<Int, Never> & SendableMetatype = PassthroughSubject()
  ) -> Channel<AnyCancellable> {
    // Unsafe, because OpenCombine does not say that its subjects may be used on any thread, which is so.
    nonisolated(unsafe) let subject = subject
    return Channel(
      subscribe: { place, handler in
        switch place {
        case .here: subject.sink(receiveValue: handler)
        case .queue(let queue): subject.receive(on: queue.ocombine).sink(receiveValue: handler)
        case .mainActor:
          subject.receive(on: DispatchQueue.main.ocombine).sink(receiveValue: handler)
        }
      },
      cancel: { $0.cancel() },
      send: { subject.send($0) })
  }

  /// A stream that is shared by a task for each closure.
  private static func sharedStream() -> Channel<Task<Void, Never>> {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let shared = stream.share(bufferingPolicy: .unbounded)
    return Channel(
      subscribe: { place, handler in
        if case .queue = place { return nil }
        return read(shared, at: place, handler)
      },
      cancel: { $0.cancel() },
      send: { continuation.yield($0) })
  }
}

/// Whether this is the main actor's turn. On Linux, that is not always the main thread.
enum MainQueue {
  private static let mark: DispatchSpecificKey<Bool> = {
    let mark = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: mark, value: true)
    return mark
  }()

  static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) ?? false }
}
