import Foundation
import MulticastCarrierTesting

/// Every promise of README.md, on networks that do their worst.
func simulate(seeds: Int, from first: UInt64) {
  var failed = 0
  for seed in first..<first + UInt64(seeds) {
    let faults = Simulation.Faults(seed: seed)
    var simulation = Simulation(seed: seed, processes: 2 + Int(seed % 3), faults: faults)
    let broken = simulation.run()
    guard !broken.isEmpty else { continue }
    failed += 1
    print("seed \(seed): \(faults)\n  \(broken.prefix(5).joined(separator: "\n  "))")
  }
  print("\(seeds) networks: \(seeds - failed) passed, \(failed) failed")
  if failed > 0 { exit(1) }
}
