import Foundation
import MulticastCarrierTesting
import Testing

/// Every promise of README.md, on networks that do their worst.
@Suite struct SimulationTests {
  @Test(arguments: 0..<4) func keepsEveryPromise(part: Int) async {
    let all = ProcessInfo.processInfo.environment["CARRIER_SEEDS"].flatMap { Int($0) } ?? 200
    for seed in stride(from: part, to: all, by: 4) {
      let faults = Simulation.Faults(seed: UInt64(seed))
      var simulation = Simulation(seed: UInt64(seed), processes: 2 + seed % 3, faults: faults)
      let broken = simulation.run()
      #expect(broken.isEmpty, "seed \(seed), \(faults)")
      // The other tests shall not wait for all of them.
      await Task.yield()
    }
  }
}
