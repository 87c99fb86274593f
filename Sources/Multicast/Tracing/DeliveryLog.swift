/// Ready-made callbacks for a center's `onDelivery`: one line for each event that matters.
///
/// Who is slow, in one line of code:
///
/// <!-- example: in Center -->
/// ```swift
/// let watched = MulticastCenter(onDelivery: DeliveryLog.calls(slowerThan: .milliseconds(16)))
/// ```
///
/// ```text
/// post UnreadProtocol #7 called UnreadLabel, 31.2 ms, MainActor, waited 190.4 µs
/// ```
///
/// Lines go to standard error, each in one piece, unless a closure takes them.
public enum DeliveryLog {
  /// Writes a line for every event.
  ///
  /// - Parameter write: Takes each line, on the thread that delivers. If nil, it goes to standard
  ///   error.
  /// - Returns: What to pass as `onDelivery`.
  public static func events(
    to write: (@Sendable (String) -> Void)? = nil
  ) -> @Sendable (DeliveryEvent) -> Void {
    lines(to: write) { _ in true }
  }

  /// Writes a line for every call of a client that took at least so long, and for every refused
  /// delivery.
  ///
  /// - Parameters:
  ///   - limit: The shortest call that is written.
  ///   - write: Takes each line, on the thread that delivers. If nil, it goes to standard error.
  /// - Returns: What to pass as `onDelivery`.
  public static func calls(
    slowerThan limit: Duration, to write: (@Sendable (String) -> Void)? = nil
  ) -> @Sendable (DeliveryEvent) -> Void {
    lines(to: write) { phase in
      switch phase {
      case .called(_, let duration): duration >= limit
      case .refused: true
      default: false
      }
    }
  }

  /// Writes a line for every pass of a delivery that took at least so long, all of its calls
  /// together, and for every refused delivery.
  ///
  /// - Parameters:
  ///   - limit: The shortest pass that is written.
  ///   - write: Takes each line, on the thread that delivers. If nil, it goes to standard error.
  /// - Returns: What to pass as `onDelivery`.
  public static func deliveries(
    slowerThan limit: Duration, to write: (@Sendable (String) -> Void)? = nil
  ) -> @Sendable (DeliveryEvent) -> Void {
    lines(to: write) { phase in
      switch phase {
      case .ended(_, let duration): duration >= limit
      case .refused: true
      default: false
      }
    }
  }

  private static func lines(
    to write: (@Sendable (String) -> Void)?,
    where matters: @escaping @Sendable (DeliveryEvent.Phase) -> Bool
  ) -> @Sendable (DeliveryEvent) -> Void {
    let write = write ?? { line in StandardError.print(line) }
    return { event in
      // The line is made for what matters alone.
      if matters(event.phase) { write(event.description) }
    }
  }
}
