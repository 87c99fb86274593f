import Multicast
import MulticastTesting
import TestSupport
import Testing

/// An exploration finds mistakes that a single run hides, and nothing where there is none.
@Suite struct MistakeTests {
  private static let limit = 200

  @Test(arguments: Mistake.all)
  func aMistakeIsFound(_ mistake: Mistake) async throws {
    let failure = try await #require(throws: Interleavings.Failure.self) {
      try await Interleavings.explore(Self.limit) { try await mistake.run($0, false) }
    }
    // The seed repeats the order, so it finds the mistake again.
    let again = try await #require(throws: Interleavings.Failure.self) {
      try await Interleavings.replay(failure.seed) { try await mistake.run($0, false) }
    }
    #expect(again.seed == failure.seed)
    #expect(again.letters == failure.letters)
  }

  @Test(arguments: Mistake.all)
  func withoutTheMistakeNothingIsFound(_ mistake: Mistake) async throws {
    try await Interleavings.explore(Self.limit) { try await mistake.run($0, true) }
  }
}
