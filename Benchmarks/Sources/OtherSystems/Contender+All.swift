import Dispatch
import Foundation
import Multicast
import MulticastFoundation
import OpenCombine
import OpenCombineDispatch
import Systems

extension Notification.Name {
  fileprivate static let event = Notification.Name("event")
}

extension NotificationCenter {
  /// Foundation's center at its best: the notification carries nothing, and the closure reads nothing.
  package func add(_ client: any Client) -> any NSObjectProtocol {
    addObserver(forName: .event, object: nil, queue: nil) { [weak client] _ in client?.event(1) }
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
      notifications("NotificationCenter, userInfo"),
      sinks("OpenCombine subject") { $0 },
      Contender("Multicast notify, timeline") { clients in
        let timeline = DeliveryTimeline()
        let center = MulticastCenter(onDelivery: timeline.record)
        for client in clients { center.add(client, for: (any BoundListener).self) }
        return { events in
          for event in 0..<events { center.notify((any BoundListener).self) { $0.event(event) } }
        }
      },
    ]

  /// Foundation's center with a payload: a dictionary, a key and a cast.
  private static func notifications(_ title: String, isLate: Bool = false) -> Contender {
    Contender(title) { clients in
      let (center, queue) = (NotificationCenter(), OperationQueue())
      queue.maxConcurrentOperationCount = 1
      let tokens = clients.map { client in
        center.addObserver(forName: .event, object: nil, queue: isLate ? queue : nil) {
          [weak client] in
          if let number = $0.userInfo?["number"] as? Int { client?.event(number) }
        }
      }
      return { events in
        for event in 0..<events {
          center.post(name: .event, object: nil, userInfo: ["number": event])
        }
        // The center does not keep its queues.
        extendLifetime((tokens, queue))
      }
    }
  }

  /// A sink for each client.
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

  /// The contenders that call their clients elsewhere, later. In each list, the first one is the baseline.
  package static let toQueue = [
    Contender("queue.async for each call") { clients in
      { events in
        for event in 0..<events {
          for client in clients { late.async { client.event(event) } }
        }
      }
    },
    topic, post(on: late),
    notifications("NotificationCenter, OperationQueue", isLate: true),
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
}
