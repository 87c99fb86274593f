import MulticastPlatform

extension DeliveryEvent {
  /// A span of time in nanoseconds.
  ///
  /// The standard library's `Duration` needs macOS 13, iOS 16 and their relatives, where each can be made
  /// from the other.
  public struct Duration: Hashable, Sendable {
    /// The number of nanoseconds.
    public let nanoseconds: Int64

    /// Returns a number of nanoseconds.
    public static func nanoseconds(_ count: Int64) -> Self { Self(nanoseconds: count) }

    /// Returns a number of microseconds.
    public static func microseconds(_ count: Int64) -> Self { Self(nanoseconds: count * 1_000) }

    /// Returns a number of milliseconds.
    public static func milliseconds(_ count: Int64) -> Self { Self(nanoseconds: count * 1_000_000) }

    /// Returns a number of seconds.
    public static func seconds(_ count: Int64) -> Self { Self(nanoseconds: count * 1_000_000_000) }
  }
}

extension DeliveryEvent.Duration: Comparable {
  /// Returns whether the first span is shorter.
  public static func < (one: Self, other: Self) -> Bool { one.nanoseconds < other.nanoseconds }
}

extension DeliveryEvent.Duration: CustomStringConvertible {
  /// The span in the unit that suits it: `999.0 ns`, `21.5 µs`, `3.0 ms`, `12.1 s`.
  public var description: String {
    // In whole numbers: the functions that round fractions would need the C library's module.
    let (unit, name): (Int64, String) =
      switch nanoseconds {
      case 1_000_000_000...: (1_000_000_000, "s")
      case 1_000_000...: (1_000_000, "ms")
      case 1_000...: (1_000, "µs")
      default: (1, "ns")
      }
    if unit == 1 { return "\(nanoseconds).0 \(name)" }
    let tenths = nanoseconds / (unit / 10) + (nanoseconds % (unit / 10) * 2 >= unit / 10 ? 1 : 0)
    return "\(tenths / 10).\(tenths % 10) \(name)"
  }
}

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension DeliveryEvent.Duration {
  /// Converts the standard library's duration. A fraction of a nanosecond is dropped, and 292 years are the
  /// longest span.
  public init(_ duration: Swift.Duration) {
    let (seconds, attoseconds) = duration.components
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isLonger) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    nanoseconds = isTooLong || isLonger ? (seconds < 0 ? .min : .max) : sum
  }
}

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Duration {
  /// Converts the span of a delivery's event.
  public init(_ duration: DeliveryEvent.Duration) { self = .nanoseconds(duration.nanoseconds) }
}

/// A moment of this run of the system.
struct Moment: Sendable {
  private let nanoseconds: UInt64

  static var now: Moment { Moment(nanoseconds: multicast_now()) }

  /// The time since then.
  var elapsed: DeliveryEvent.Duration {
    DeliveryEvent.Duration(nanoseconds: Int64(multicast_now() - nanoseconds))
  }
}
