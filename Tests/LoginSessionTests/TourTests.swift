import Foundation
import Testing

/// The session that is played without a file.
struct TourTests {
  @Test func playsTheExpectedSession() async throws {
    let outcome = try await Program.run()

    let file = try #require(
      Bundle.module.url(forResource: "session", withExtension: "txt", subdirectory: "Expected"))
    #expect(numberingCallSites(in: outcome.output) == (try Program.lines(of: file)))
    #expect(outcome.errors == [])
    #expect(outcome.status == 0)
  }

  @Test func playsTheExpectedTrace() async throws {
    let outcome = try await Program.run(["--trace"])

    let file = try #require(
      Bundle.module.url(forResource: "trace", withExtension: "txt", subdirectory: "Expected"))
    let lines = numberingCallSites(in: outcome.output)
      .map { $0.replacing(/[0-9.]+ (ns|µs|ms|s)\b/, with: "<time>") }
    let last = try #require(lines.firstIndex { $0.hasPrefix("3.") })
    // The thread that posts may tell of the end of its pass at any time after it has left the letter. And on a
    // busy machine, anybody may be slow.
    let expected = lines.enumerated().filter { index, line in
      !line.contains("ended, clients: 0")
        && (index < last || !line.contains(" called ") || line.contains(" called Backup,"))
    }
    #expect(lines.count { $0.contains("ended, clients: 0") } == 2)
    #expect(expected.map(\.element) == (try Program.lines(of: file)))
    #expect(outcome.errors == [])
    #expect(outcome.status == 0)
  }

  /// Replaces the line and column of each call site by the number of the site, so that the expected
  /// text still says which sites are the same, and does not change with every edit of the source.
  private func numberingCallSites(in lines: [String]) -> [String] {
    var sites: [Substring] = []
    return lines.map { line in
      line.replacing(/(LoginSession\/\w+\.swift):[0-9]+:[0-9]+/) { match in
        if !sites.contains(match.0) { sites.append(match.0) }
        return "\(match.1):<site \(sites.firstIndex(of: match.0)! + 1)>"
      }
    }
  }
}
