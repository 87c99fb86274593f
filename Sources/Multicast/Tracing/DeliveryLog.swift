/// Callbacks for a center's `onDelivery` that write lines.
///
/// <!-- example: in Center -->
/// ```swift
/// let watched = MulticastCenter(onDelivery: DeliveryLog.calls(slowerThan: 16_000_000))
/// ```
///
/// ```text
/// post UnreadProtocol #7 called UnreadLabel, 31.2 ms, MainActor, waited 190.4 µs
/// ```
///
/// The lines go to standard error, unless a closure receives them.
public enum DeliveryLog {
  /// Writes a line for every event.
  ///
  /// - Parameter write: Receives each line, on the delivering thread. If nil, the line goes to standard
  ///   error.
  /// - Returns: A callback for `onDelivery`.
  public static func events(
    to write: (@Sendable (String) -> Void)? = nil
  ) -> @Sendable (DeliveryEvent) -> Void {
    lines(to: write) { _ in true }
  }

  /// Writes a line for every call that takes at least so many nanoseconds, and for every refused delivery. See
  /// ``events(to:)``.
  ///
  /// - Returns: A callback for `onDelivery`.
  public static func calls(
    slowerThan nanoseconds: UInt64, to write: (@Sendable (String) -> Void)? = nil
  ) -> @Sendable (DeliveryEvent) -> Void {
    lines(to: write) { if case .called(_, let time) = $0 { time >= nanoseconds } else { false } }
  }

  /// Writes the events that matter, and refused deliveries.
  private static func lines(
    to write: (@Sendable (String) -> Void)?,
    where matters: @escaping @Sendable (DeliveryEvent.Phase) -> Bool
  ) -> @Sendable (DeliveryEvent) -> Void {
    let write = write ?? { line in StandardError.print(line) }
    return { event in
      if case .refused = event.phase { return write(event.description) }
      if matters(event.phase) { write(event.description) }
    }
  }
}
