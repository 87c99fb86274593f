import Dispatch
import Foundation
import Synchronization
import Systems

extension Notification.Name {
  package static let event = Notification.Name("event")
}

/// A system that calls a closure for each event, used as its documentation shows it.
package struct Channel<Token>: Sendable {
  package typealias Handler = @Sendable (_ number: Int) -> Void

  /// Returns what is given back to end the calls; nil if the system has no such place.
  package let subscribe: @Sendable (Place, @escaping Handler) -> Token?

  package let cancel: @Sendable (Token) -> Void

  package let send: Handler

  package init(
    subscribe: @escaping @Sendable (Place, @escaping Handler) -> Token?,
    cancel: @escaping @Sendable (Token) -> Void, send: @escaping Handler
  ) {
    (self.subscribe, self.cancel, self.send) = (subscribe, cancel, send)
  }
}

package enum Channels {
  /// Foundation's center with something to say: a dictionary, a key and a cast.
  package static func notifications(
    _ name: String = "event", in center: NotificationCenter = NotificationCenter()
  ) -> Channel<any NSObjectProtocol> {
    let name = Notification.Name(name)
    // By the serial queue that each stands for. The center does not keep them.
    let queues = Mutex<[ObjectIdentifier: OperationQueue]>([:])
    return Channel(
      subscribe: { place, handler in
        let queue: OperationQueue? =
          switch place {
          case .here: nil
          case .mainActor: .main
          case .queue(let queue):
            queues.withLock {
              let operations = $0[ObjectIdentifier(queue), default: OperationQueue()]
              operations.maxConcurrentOperationCount = 1
              $0[ObjectIdentifier(queue)] = operations
              return operations
            }
          }
        return center.addObserver(forName: name, object: nil, queue: queue) {
          if let number = $0.userInfo?["number"] as? Int { handler(number) }
        }
      },
      cancel: { center.removeObserver($0) },
      send: { center.post(name: name, object: nil, userInfo: ["number": $0]) })
  }

  /// A stream and a task for each closure.
  package static func streams() -> Channel<Int> {
    let streams = Streams()
    return Channel(
      subscribe: { place, handler in
        if case .queue = place { return nil }
        let (id, stream) = streams.add()
        read(stream, at: place, handler)
        return id
      },
      cancel: { streams.remove($0) },
      send: { streams.yield($0) })
  }
}

/// A list of streams, which end with it.
final class Streams: Sendable {
  private let continuations = Mutex<[(id: Int, one: AsyncStream<Int>.Continuation)]>([])

  deinit { for continuation in continuations.withLock({ $0 }) { continuation.one.finish() } }

  func add() -> (id: Int, stream: AsyncStream<Int>) {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    return continuations.withLock {
      let id = ($0.last?.id ?? 0) + 1
      $0.append((id, continuation))
      return (id, stream)
    }
  }

  func remove(_ id: Int) {
    let removed = continuations.withLock { all in
      all.firstIndex { $0.id == id }.map { all.remove(at: $0) }
    }
    removed?.one.finish()
  }

  func yield(_ number: Int) {
    for continuation in continuations.withLock({ $0 }) { continuation.one.yield(number) }
  }
}

/// Calls a closure with each number, in a task.
@discardableResult
package func read(
  _ numbers: some AsyncSequence<Int, Never> & Sendable, at place: Place,
  _ handler: @escaping @Sendable (Int) -> Void
) -> Task<Void, Never> {
  if case .mainActor = place {
    Task { @MainActor in for await number in numbers { handler(number) } }
  } else {
    Task.detached { for await number in numbers { handler(number) } }
  }
}
