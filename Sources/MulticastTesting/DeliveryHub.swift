import Multicast

/// Receives the events of a center's `onDelivery`, and passes one record for each delivery to the center's recorders.
final class DeliveryHub: Sendable {
  fileprivate struct State {
    /// The number of clients of each delivery whose pass on the thread that notifies or posts has begun and has not ended.
    var clients: [UInt64: Int] = [:]

    var recordings: [Recording<DeliveryRecorder.Delivery>] = []
  }

  private let state = Locked(State())

  /// The hub of a center; nil if the center was made without one.
  static func of(_ center: MulticastCenter) -> DeliveryHub? { center.attachment() }

  func add(_ recording: Recording<DeliveryRecorder.Delivery>) {
    state.withLock { $0.recordings.append(recording) }
  }

  func report(_ event: DeliveryEvent) {
    // The clients of a letter were counted when it was left.
    if event.isOfLetter { return }
    let (recordings, clients) = state.withLock { state in
      (state.recordings, state.count(event))
    }
    if let clients {
      let delivery = DeliveryRecorder.Delivery(event, clients: clients)
      for recording in recordings { recording.add(delivery, number: event.delivery) }
    } else if case .began = event.phase {
      let delivery = DeliveryRecorder.Delivery(event, clients: 0)
      for recording in recordings {
        // A delivery that awaits may last as long as the test. Another one ends soon, and nested ones may end before it.
        recording.begin(delivery, number: event.delivery, blocks: event.way != .awaiting)
      }
    }
  }
}

extension DeliveryHub.State {
  /// Returns the number of a delivery's clients if the event ends it.
  fileprivate mutating func count(_ event: DeliveryEvent) -> Int? {
    let number = event.delivery
    switch event.phase {
    case .refused: return 0
    case .began: clients[number] = 0
    case .called: clients[number, default: 0] += 1
    case .left(_, let count, _): clients[number, default: 0] += count
    case .ended:
      return clients.removeValue(forKey: number).map { $0 + event.leftForPostingThread }
    }
    return nil
  }
}

extension MulticastCenter {
  /// Creates a center whose deliveries a ``DeliveryRecorder`` can record.
  ///
  /// A center reports its deliveries to one closure, which it receives when you create it. Therefore only a
  /// center that is created for recorders can be recorded. The centers of `.ownCenter` and of
  /// ``Interleavings`` are.
  ///
  /// - Parameters:
  ///   - reentrancy: What happens to a nested `notify` of the same listener protocol.
  ///   - onRecursion: Receives a report of each refused `notify`, and of the first refused `post` of each chain.
  ///   - carried: A task-local value that clients and handlers see where they are called.
  /// - Returns: A center without clients.
  public static func recordable(
    reentrancy: ReentrancyPolicy = .refuseLoops,
    onRecursion: (@Sendable (RecursiveNotify) -> Void)? = nil,
    carrying carried: CarriedValue? = nil
  ) -> MulticastCenter {
    let hub = DeliveryHub()
    let center = MulticastCenter(
      reentrancy: reentrancy, onRecursion: onRecursion, onDelivery: hub.report, carrying: carried)
    center.attach(hub)
    return center
  }
}
