import Testing

/// The example TwoWindows, as its users run it.
struct TwoWindowsTests {
  @Test func eachStatusBarShowsItsOwnWindow() async throws {
    let expected = """
      Draft: 0 words, saved
      Letter: 0 words, saved
      Draft: 2 words, edited
      Letter: 3 words, edited
      Draft: 2 words, saved
      Letter: closed
      Recent files: Letter, Draft

      """
    #expect(try await Program("TwoWindows", []).outcome() == Program.Outcome(output: expected))
  }
}
