import Multicast

/// What a benchmark keeps alive and hands to the systems.
public protocol Client: OpaqueListener, BoundListener, OtherListener {
  /// How often it was called.
  var calls: Int { get }

  /// Observes a topic, as an object does that knows its own class.
  @discardableResult
  func observe(_ topic: Topic<Int>, in center: MulticastCenter) -> TopicObservation
}

/// Makes clients.
public enum Clients {
  /// Makes `count` clients, of several classes by turns, so that no call can be devirtualised.
  public static func make(_ count: Int) -> [any Client] {
    (0..<count).map { number in
      switch number % 4 {
      case 0: Screen()
      case 1: Badge()
      case 2: Log()
      default: Cache()
      }
    }
  }
}
