import Dispatch
import Foundation
import Multicast
import OpenCombine
import OpenCombineDispatch
import Systems

/// The contenders that call their clients elsewhere, later. The others of each list are compared with its first.
package enum LateContenders {
  package static let toQueue = [
    Contender<Recipient>("queue.async for each call") { recipients in
      let queue = DispatchQueue(label: "late")
      return { number in
        for recipient in recipients { queue.async { recipient.event(number) } }
      }
    },
    Contender("Multicast topic post") { recipients in
      let (center, queue) = (MulticastCenter(), DispatchQueue(label: "late"))
      for recipient in recipients {
        center.observe(.event, owner: recipient, on: queue) { $0.event($1) }
      }
      return { number in center.post(.event, number) }
    },
    multicastPost { DispatchQueue(label: "late") },
    Contender("NotificationCenter, OperationQueue") { recipients in
      let (center, queue) = (NotificationCenter(), OperationQueue())
      queue.maxConcurrentOperationCount = 1
      let tokens = recipients.map { recipient in
        center.addObserver(forName: .event, object: nil, queue: queue) {
          [weak recipient] notification in
          if let number = notification.userInfo?["number"] as? Int { recipient?.event(number) }
        }
      }
      return { number in
        center.post(name: .event, object: nil, userInfo: ["number": number])
        extendLifetime((queue, tokens))
      }
    },
    Contender("OpenCombine receive(on:)") { recipients in
      let subject = PassthroughSubject<Int, Never>()
      let queue = DispatchQueue(label: "late").ocombine
      let sinks = recipients.map { recipient in
        subject.receive(on: queue).sink { [weak recipient] number in recipient?.event(number) }
      }
      return { number in
        subject.send(number)
        extendLifetime(sinks)
      }
    },
  ]

  package static let toMainActor = [
    Contender<Recipient>("Task { @MainActor } for each call") { recipients in
      { number in
        for recipient in recipients { Task { @MainActor in recipient.event(number) } }
      }
    },
    Contender("Multicast topic post") { recipients in
      let center = MulticastCenter()
      for recipient in recipients {
        center.observe(.event, owner: recipient) { @MainActor recipient, number in
          recipient.event(number)
        }
      }
      return { number in center.post(.event, number) }
    },
    multicastPost { .main },
  ]

  package static let toStreams = [
    Contender<Recipient>("AsyncStream fan-out") { recipients in
      let streams = Streams(for: recipients) { recipient, stream in
        Task.detached { for await number in stream { recipient.event(number) } }
      }
      return { number in streams.yield(number) }
    },
    Contender("Multicast messages(of:)") { recipients in
      let center = MulticastCenter()
      for recipient in recipients {
        let messages = center.messages(of: .event)
        Task.detached { for await number in messages { recipient.event(number) } }
      }
      return { number in center.post(.event, number) }
    },
  ]

  private static func multicastPost(
    on home: @escaping @Sendable () -> DispatchQueue
  ) -> Contender<Recipient> {
    Contender("Multicast post") { recipients in
      let (center, queue) = (MulticastCenter(), home())
      for recipient in recipients { center[(any BoundListener).self].add(recipient, on: queue) }
      return { number in center.post((any BoundListener).self) { $0.event(number) } }
    }
  }
}
