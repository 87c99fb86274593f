import Dispatch
import Foundation
import Multicast
import OpenCombine
import OpenCombineDispatch
import Systems

extension NotificationCenter {
  /// Foundation's center at its best: nothing in the notification, and nothing looked for in it.
  package func add(
    _ client: any Client, for name: Notification.Name = .event
  ) -> any NSObjectProtocol {
    addObserver(forName: name, object: nil, queue: nil) { [weak client] _ in client?.event(1) }
  }
}

extension Contender {
  /// The rows of the comparison.
  package static let all =
    basic + [
      Contender("NotificationCenter") { clients in
        let center = NotificationCenter()
        let tokens = clients.map { center.add($0) }
        return { events in
          for _ in 0..<events { center.post(name: .event, object: nil) }
          extendLifetime(tokens)
        }
      },
      closures("NotificationCenter, userInfo") { Channels.notifications() },
      sinks("OpenCombine subject") { $0 },
      // Waits after each burst. To wait after each event would measure how tasks are woken, which no user of
      // streams does for every event.
      Contender("AsyncStream fan-out", step: burst) { clients in
        let (streams, countdown) = (Streams(), Countdown())
        for client in clients {
          let stream = streams.add().stream
          Task.detached { [weak client] in
            for await number in stream {
              client?.event(number)
              countdown.note(number)
            }
          }
        }
        return { events in
          let size = burst(clients.count)
          for first in stride(from: 0, to: events, by: size) {
            let events = first..<min(first + size, events)
            countdown.wait(for: events, clients: clients.count) {
              for event in events { streams.yield(event) }
            }
          }
        }
      },
    ]

  /// As many events as a batch has, or fewer, so that a burst stays below 10,000 deliveries.
  private static let burst: @Sendable (Int) -> Int = { max(1, min(batch, 10_000 / max($0, 1))) }

  /// A closure for each client, which is captured weakly.
  private static func closures<Token>(
    _ title: String, at place: Place = .here, _ make: @escaping @Sendable () -> Channel<Token>
  ) -> Contender {
    Contender(title) { clients in
      let channel = make()
      let tokens = clients.map { client in
        channel.subscribe(place) { [weak client] number in client?.event(number) }
      }
      return { events in
        for event in 0..<events { channel.send(event) }
        extendLifetime(tokens)
      }
    }
  }

  /// A sink for each client. Not by `Channel`, whose closures would take memory beside the sinks.
  private static func sinks(
    _ title: String,
    _ publisher: @escaping @Sendable (PassthroughSubject<Int, Never>) -> some Publisher<Int, Never>
  ) -> Contender {
    Contender(title) { clients in
      let subject = PassthroughSubject<Int, Never>()
      let sinks = clients.map { client in
        publisher(subject).sink { [weak client] number in client?.event(number) }
      }
      return { events in
        for event in 0..<events { subject.send(event) }
        extendLifetime(sinks)
      }
    }
  }

  // MARK: - Called later

  package static let late = DispatchQueue(label: "late")

  /// The contenders that call their clients elsewhere, later. The others of each list are compared with its first.
  package static let toQueue = [
    Contender("queue.async for each call") { clients in
      { events in
        for event in 0..<events {
          for client in clients { late.async { client.event(event) } }
        }
      }
    },
    topic, post(on: late),
    closures("NotificationCenter, OperationQueue", at: .queue(late)) { Channels.notifications() },
    sinks("OpenCombine receive(on:)") { $0.receive(on: late.ocombine) },
  ]

  package static let toMainActor = [
    Contender("Task { @MainActor } for each call") { clients in
      { events in
        for event in 0..<events {
          for client in clients { Task { @MainActor in client.event(event) } }
        }
      }
    },
    topic, post(on: .main),
  ]

  package static let toStreams = [
    closures("AsyncStream fan-out") { Channels.streams() },
    Contender("Multicast messages(of:)") { clients in
      let center = MulticastCenter()
      for client in clients {
        read(center.messages(of: .event), at: .here) { client.event($0) }
      }
      return { events in for event in 0..<events { center.post(.event, event) } }
    },
  ]
}
