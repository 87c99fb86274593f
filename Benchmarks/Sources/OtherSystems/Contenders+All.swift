import Dispatch
import Foundation
import OpenCombine
import Systems

extension Notification.Name {
  package static let event = Notification.Name("event")
}

extension Contenders {
  /// The rows of the comparison.
  package static let all =
    basic + [
      // Foundation's center at its best: nothing in the notification, and nothing looked for in it.
      Contender<any Client>("NotificationCenter") { clients in
        let center = NotificationCenter()
        let tokens = clients.map { client in
          center.addObserver(forName: .event, object: nil, queue: nil) { [weak client] _ in
            client?.event(1)
          }
        }
        return { events in
          for _ in 0..<events { center.post(name: .event, object: nil) }
          extendLifetime(tokens)
        }
      },
      // Foundation's center with something to say: a dictionary, a key and a cast.
      Contender("NotificationCenter, userInfo") { clients in
        let center = NotificationCenter()
        let tokens = clients.map { client in
          center.addObserver(forName: .event, object: nil, queue: nil) {
            [weak client] notification in
            if let number = notification.userInfo?["number"] as? Int { client?.event(number) }
          }
        }
        return { events in
          for event in 0..<events {
            center.post(name: .event, object: nil, userInfo: ["number": event])
          }
          extendLifetime(tokens)
        }
      },
      Contender("OpenCombine subject") { clients in
        let subject = PassthroughSubject<Int, Never>()
        let sinks = clients.map { client in
          subject.sink { [weak client] number in client?.event(number) }
        }
        return { events in
          for event in 0..<events { subject.send(event) }
          extendLifetime(sinks)
        }
      },
      // Waits after each burst. To wait after each event would measure how tasks are woken, which no user of
      // streams does for every event.
      Contender("AsyncStream fan-out", step: burst) { clients in
        let countdown = Countdown()
        let streams = Streams(for: clients) { client, stream in
          Task.detached { [weak client] in
            for await number in stream {
              client?.event(number)
              countdown.note()
            }
          }
        }
        return { events in
          let size = burst(clients.count)
          for first in stride(from: 0, to: events, by: size) {
            let events = first..<min(first + size, events)
            countdown.begin(events.count * clients.count)
            for event in events { streams.yield(event) }
            if !clients.isEmpty { countdown.wait() }
          }
        }
      },
    ]

  /// As many events as a batch has, or fewer, so that a burst stays below 10,000 deliveries.
  private static let burst: @Sendable (Int) -> Int = { max(1, min(batch, 10_000 / max($0, 1))) }
}

/// A stream for each client.
final class Streams {
  private let continuations: [AsyncStream<Int>.Continuation]

  init<Client>(for clients: [Client], read: (Client, AsyncStream<Int>) -> Void) {
    continuations = clients.map { client in
      let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
      read(client, stream)
      return continuation
    }
  }

  deinit {
    for continuation in continuations { continuation.finish() }
  }

  // Not inlined, for the same reason as a loop over clients.
  @inline(never)
  func yield(_ number: Int) {
    for continuation in continuations { continuation.yield(number) }
  }
}
