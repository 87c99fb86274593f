import Clients
import Dispatch
import Foundation
import Multicast
import OpenCombine
import OpenCombineDispatch

/// A way to tell many recipients something elsewhere, as a row of a table.
public struct LateContender: Sendable {
  /// Tells all recipients a number.
  public typealias Tell = (_ number: Int) -> Void

  /// The row's title.
  public let title: String

  /// Registers recipients, whose owner is the caller.
  public let make: @Sendable (_ recipients: [Recipient]) -> Tell

  init(_ title: String, make: @escaping @Sendable (_ recipients: [Recipient]) -> Tell) {
    self.title = title
    self.make = make
  }
}

// MARK: - To a serial queue

extension LateContender {
  /// The first one is what the others are compared with.
  public static let toQueue = [
    LateContender("queue.async for each call") { recipients in
      let queue = DispatchQueue(label: "late")
      return { number in
        for recipient in recipients { queue.async { recipient.event(number) } }
      }
    },
    LateContender("Multicast topic post") { recipients in
      let (center, queue) = (MulticastCenter(), DispatchQueue(label: "late"))
      for recipient in recipients {
        center.observe(.event, owner: recipient, on: queue) { $0.event($1) }
      }
      return { number in center.post(.event, number) }
    },
    LateContender("Multicast post") { recipients in
      let (center, queue) = (MulticastCenter(), DispatchQueue(label: "late"))
      for recipient in recipients {
        center[(any BoundListener).self].add(recipient, on: queue)
      }
      return { number in center.post((any BoundListener).self) { $0.event(number) } }
    },
    LateContender("NotificationCenter, OperationQueue") { recipients in
      let (center, queue) = (NotificationCenter(), OperationQueue())
      queue.maxConcurrentOperationCount = 1
      let tokens = recipients.map { recipient in
        center.addObserver(forName: .event, object: nil, queue: queue) {
          [weak recipient] notification in
          if let number = notification.userInfo?["number"] as? Int { recipient?.event(number) }
        }
      }
      return { number in
        withExtendedLifetime((queue, tokens)) {
          center.post(name: .event, object: nil, userInfo: ["number": number])
        }
      }
    },
    LateContender("OpenCombine receive(on:)") { recipients in
      let subject = PassthroughSubject<Int, Never>()
      let queue = DispatchQueue(label: "late").ocombine
      let sinks = recipients.map { recipient in
        subject.receive(on: queue).sink { [weak recipient] number in recipient?.event(number) }
      }
      return { number in withExtendedLifetime(sinks) { subject.send(number) } }
    },
  ]
}

// MARK: - To the main actor

extension LateContender {
  /// The first one is what the others are compared with.
  public static let toMainActor = [
    LateContender("Task { @MainActor } for each call") { recipients in
      { number in
        for recipient in recipients { Task { @MainActor in recipient.event(number) } }
      }
    },
    LateContender("Multicast topic post") { recipients in
      let center = MulticastCenter()
      for recipient in recipients {
        center.observe(.event, owner: recipient) { @MainActor recipient, number in
          recipient.event(number)
        }
      }
      return { number in center.post(.event, number) }
    },
    LateContender("Multicast post") { recipients in
      let center = MulticastCenter()
      for recipient in recipients {
        center[(any BoundListener).self].add(recipient, on: .main)
      }
      return { number in center.post((any BoundListener).self) { $0.event(number) } }
    },
  ]
}

// MARK: - To tasks

extension LateContender {
  /// The first one is what the others are compared with.
  public static let toStreams = [
    LateContender("AsyncStream fan-out") { recipients in
      let streams = Streams(to: recipients)
      return { number in streams.yield(number) }
    },
    LateContender("Multicast messages(of:)") { recipients in
      let center = MulticastCenter()
      for recipient in recipients {
        let messages = center.messages(of: .event)
        Task.detached { for await number in messages { recipient.event(number) } }
      }
      return { number in center.post(.event, number) }
    },
  ]

  private final class Streams {
    private let continuations: [AsyncStream<Int>.Continuation]

    init(to recipients: [Recipient]) {
      continuations = recipients.map { recipient in
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        Task.detached { for await number in stream { recipient.event(number) } }
        return continuation
      }
    }

    deinit {
      for continuation in continuations { continuation.finish() }
    }

    func yield(_ number: Int) {
      for continuation in continuations { continuation.yield(number) }
    }
  }
}
