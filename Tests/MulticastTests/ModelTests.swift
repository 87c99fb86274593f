import CoreModel
import Testing

/// Rules 1 to 7 of the contract all at once, against a simple model.
@Suite struct ModelTests {
  private func run(seed: UInt64, operations: Int, maximumOfClients: Int) {
    let model = Model(
      operations: operations, maximumOfClients: maximumOfClients,
      generator: SeededGenerator(seed: seed))
    do throws(Mismatch) {
      try model.run()
    } catch {
      Issue.record(
        "\(error), with seed \(seed), \(operations) operations and \(maximumOfClients) clients")
    }
  }

  @Test(arguments: [3, 10, 40, 200])
  func theDelegateDoesWhatTheModelDoes(maximumOfClients: Int) {
    for seed in 0..<UInt64(Process.rounds(100, quick: 10)) {
      run(seed: seed, operations: 300, maximumOfClients: maximumOfClients)
    }
    run(
      seed: 1, operations: Process.rounds(12_000, quick: 1200), maximumOfClients: maximumOfClients)
  }

  @Test func bytesAreWrittenAndReadAsDigits() throws {
    for text in ["", "00", "0aff10"] { #expect(try #require(Input(text)).description == text) }
    for text in ["0", "0g", "0x10", "a ", "é"] { #expect(Input(text) == nil) }
  }

  @Test func aPartThatBecomesDispensableLaterGoesToo() {
    // Without the 1 it fails only once the 9 behind it is gone.
    let input = Input(bytes: [1, 2, 9, 3])
    let reduced = input.reduced {
      $0.bytes.contains(2) && ($0.bytes.contains(1) || !$0.bytes.contains(9))
    }
    #expect(reduced.bytes == [2])
  }

  @Test func aDelegateThatIsRightHasNoMismatch() {
    #expect(Input(bytes: (0..<2000).map { UInt8($0 * 7 & 255) }).mismatch() == nil)
  }
}
