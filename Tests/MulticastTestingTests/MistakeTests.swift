import Multicast
import MulticastTesting
import TestSupport
import Testing

/// An exploration finds mistakes that a single run hides, and nothing where there is none.
@Suite struct MistakeTests {
  private static let limit = 200

  @Test func thereAreTwenty() {
    #expect(Mistake.all.count == 20)
  }

  @Test(arguments: Mistake.all)
  func aMistakeIsFound(_ mistake: Mistake) async throws {
    let failure = await #expect(throws: Interleavings.Failure.self) {
      try await Interleavings.explore(Self.limit) { try await mistake.run($0, false) }
    }
    let seed = try #require(failure?.seed)
    print("Found with \(seed + 1) seeds: \(mistake)")
    // The seed repeats the order, so it finds the mistake again.
    let again = await #expect(throws: Interleavings.Failure.self) {
      try await Interleavings.replay(seed) { try await mistake.run($0, false) }
    }
    #expect(again?.seed == seed)
    #expect(again?.description.contains("Interleavings.replay(\(seed))") == true)
  }

  @Test(arguments: Mistake.all)
  func withoutTheMistakeNothingIsFound(_ mistake: Mistake) async throws {
    try await Interleavings.explore(Self.limit) { try await mistake.run($0, true) }
  }
}
