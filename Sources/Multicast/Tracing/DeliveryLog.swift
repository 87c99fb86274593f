/// Callbacks for a center's `onDelivery` that write lines.
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

  /// Writes a line for every call that takes at least `limit`, and for every refused delivery. See
  /// ``events(to:)``.
  ///
  /// - Returns: A callback for `onDelivery`.
  public static func calls(
    slowerThan limit: DeliveryEvent.Duration, to write: (@Sendable (String) -> Void)? = nil
  ) -> @Sendable (DeliveryEvent) -> Void {
    lines(to: write) { if case .called(_, let duration) = $0 { duration >= limit } else { false } }
  }

  /// Writes a line for every pass that takes at least `limit`, and for every refused delivery. See
  /// ``events(to:)``.
  ///
  /// - Returns: A callback for `onDelivery`.
  public static func deliveries(
    slowerThan limit: DeliveryEvent.Duration, to write: (@Sendable (String) -> Void)? = nil
  ) -> @Sendable (DeliveryEvent) -> Void {
    lines(to: write) { if case .ended(_, let duration) = $0 { duration >= limit } else { false } }
  }

  /// Writes the events that matter, and refused deliveries.
  private static func lines(
    to write: (@Sendable (String) -> Void)?,
    where matters: @escaping @Sendable (DeliveryEvent.Phase) -> Bool
  ) -> @Sendable (DeliveryEvent) -> Void {
    let write = write ?? { line in StandardError.print(line) }
    return { event in
      switch event.phase {
      case .refused: write(event.description)
      case let phase: if matters(phase) { write(event.description) }
      }
    }
  }
}
