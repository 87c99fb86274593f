import Testing

@testable import MulticastFoundation

/// Who has to remove a relay's observer: exactly one caller, whatever comes first.
@Suite struct RelayStatusTests {
  @Test func whoeverEndsItRemovesTheObserver() {
    let status = RelayStatus()
    #expect(status.begin())
    #expect(status.isActive)
    #expect(status.end())
    #expect(!status.isActive)
    // Nobody removes it a second time.
    #expect(!status.end())
  }

  @Test func endedBeforeItHasBegunWhoeverBeginsRemovesTheObserver() {
    let status = RelayStatus()
    // There is nothing to be removed yet.
    #expect(!status.end())
    #expect(!status.isActive)
    #expect(!status.begin())
    #expect(!status.isActive)
  }
}
