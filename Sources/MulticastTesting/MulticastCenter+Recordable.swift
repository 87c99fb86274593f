import Multicast

extension MulticastCenter {
  /// Creates a center whose deliveries can be recorded: see ``DeliveryRecorder``.
  ///
  /// A center reports its deliveries to one closure, which it receives when it is made. So only a center that is made
  /// for recorders has them. Those of `.ownCenter` and of ``Interleavings`` are.
  ///
  /// - Parameters:
  ///   - reentrancy: What happens to a nested `notify` of the same listener protocol.
  ///   - onRecursion: Receives the report of each refused call.
  ///   - carried: A task-local value that is carried to where clients and handlers are called.
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
