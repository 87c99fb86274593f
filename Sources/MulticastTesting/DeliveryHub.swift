import Multicast

/// Receives the events of a center's `onDelivery`, and passes one record for each delivery to the center's recorders.
final class DeliveryHub: Sendable {
  /// A delivery that has begun and has not ended.
  fileprivate struct Open {
    /// The number of the pass on the thread that notifies or posts. The delivery ends with that pass.
    let pass: UInt64

    var clients = 0
  }

  fileprivate struct State {
    var open: [UInt64: Open] = [:]

    /// The numbers of all deliveries that have begun. A letter for listeners without a home makes a second pass without a home,
    /// which looks like the beginning of another delivery.
    var begun: Set<UInt64> = []

    var recordings: [Recording<DeliveryRecorder.Delivery>] = []
  }

  private let state = Locked(State())

  /// The hub of a center; nil if the center was made without one.
  static func of(_ center: MulticastCenter) -> DeliveryHub? { center.attachment() }

  func add(_ recording: Recording<DeliveryRecorder.Delivery>) {
    state.withLock { $0.recordings.append(recording) }
  }

  func report(_ event: DeliveryEvent) {
    let (recordings, clients) = state.withLock { state in
      let clients = state.count(event)
      return (clients == nil ? [] : state.recordings, clients)
    }
    guard let clients else { return }
    let delivery = DeliveryRecorder.Delivery(event, clients: clients)
    for recording in recordings {
      recording.add(delivery, before: { $0.number > delivery.number })
    }
  }
}

extension DeliveryHub.State {
  /// Returns the number of a delivery's clients if the event ends it.
  fileprivate mutating func count(_ event: DeliveryEvent) -> Int? {
    let number = event.delivery
    switch event.phase {
    case .refused: return 0
    case .began:
      if event.home == nil, begun.insert(number).inserted {
        open[number] = DeliveryHub.Open(pass: event.pass)
      }
    case .called: if event.home == nil { open[number]?.clients += 1 }
    case .left(_, let clients, _): open[number]?.clients += clients
    case .ended:
      if open[number]?.pass == event.pass { return open.removeValue(forKey: number)?.clients }
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
  ///   - onRecursion: Receives a report of each refused call.
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
