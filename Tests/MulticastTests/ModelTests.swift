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
    let seeds = Process.rounds(100, quick: 10)
    for seed in 0..<seeds {
      run(seed: UInt64(seed), operations: 300, maximumOfClients: maximumOfClients)
    }
  }

  @Test func itDoesSoForALongTime() {
    let operations = Process.rounds(50_000, quick: 5000)
    run(seed: 1, operations: operations, maximumOfClients: 60)
  }
}

/// What makes a difference between delegate and model easy to look at.
@Suite struct ModelInputTests {
  @Test(arguments: ["", "00", "0aff10"])
  func bytesAreWrittenAndReadAsDigits(text: String) throws {
    #expect(try #require(Input(text)).description == text)
  }

  @Test(arguments: ["0", "0g", "0x10", "a ", "é"])
  func otherTextIsRefused(text: String) {
    #expect(Input(text) == nil)
  }

  @Test func reducingKeepsWhatItFailsFor() {
    let input = Input(bytes: Array(0...255))
    let reduced = input.reduced { $0.bytes.contains(7) && $0.bytes.contains(200) }
    #expect(reduced.bytes == [7, 200])
  }

  @Test func aPartThatBecomesDispensableLaterGoesToo() {
    // Without the 1 it fails only once the 9 behind it is gone.
    let input = Input(bytes: [1, 2, 9, 3])
    let reduced = input.reduced {
      $0.bytes.contains(2) && ($0.bytes.contains(1) || !$0.bytes.contains(9))
    }
    #expect(reduced.bytes == [2])
  }

  @Test func anInputRepeatsItsRun() {
    for bytes in [[], [0], [5, 1, 2, 3], (0..<2000).map { UInt8($0 * 7 & 255) }] {
      #expect(Input(bytes: bytes).mismatch() == nil)
    }
  }
}
