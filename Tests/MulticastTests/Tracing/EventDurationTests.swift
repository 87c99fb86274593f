import Multicast
import Testing

struct EventDurationTests {
  @Test(
    arguments: [
      (0, "0.0 ns"), (999, "999.0 ns"), (1_000, "1.0 µs"), (21_460, "21.5 µs"),
      (3_000_000, "3.0 ms"),
      (12_140_000_000, "12.1 s"),
    ] as [(Int64, String)])
  func aSpanIsShownInItsUnit(_ nanoseconds: Int64, _ text: String) {
    #expect(DeliveryEvent.Duration.nanoseconds(nanoseconds).description == text)
  }

  @Test func unitsAreThousandsOfEachOther() {
    typealias Span = DeliveryEvent.Duration
    #expect(Span.seconds(2) == .milliseconds(2_000))
    #expect(Span.milliseconds(2) == .microseconds(2_000))
    #expect(Span.microseconds(2) == .nanoseconds(2_000))
    #expect(Span.nanoseconds(1_999) < .microseconds(2))
  }

  @Test func theStandardLibrarysDurationIsConvertedBothWays() {
    let span = DeliveryEvent.Duration(.seconds(3) + .nanoseconds(7))
    #expect(span == .nanoseconds(3_000_000_007))
    #expect(Duration(span) == .nanoseconds(3_000_000_007))
    #expect(DeliveryEvent.Duration(.zero - .milliseconds(1_500)) == .nanoseconds(-1_500_000_000))
    #expect(
      DeliveryEvent.Duration(Duration(secondsComponent: 0, attosecondsComponent: 999_999_999))
        == .seconds(0))
    #expect(DeliveryEvent.Duration(.seconds(Int64.max)) == .nanoseconds(.max))
    #expect(DeliveryEvent.Duration(.seconds(Int64.min)) == .nanoseconds(.min))
  }
}
