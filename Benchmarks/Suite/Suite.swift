import Benchmark
import OtherSystems
import Systems

/// The rows of the comparison as benchmarks, to be held against the figures of former runs.
let benchmarks: @Sendable () -> Void = {
  Benchmark.defaultConfiguration = Benchmark.Configuration(
    metrics: [.wallClock, .instructions],
    scalingFactor: .kilo,
    maxDuration: .milliseconds(500),
    // Generous for times, because machines are shared; strict for what does not depend on that.
    thresholds: [
      .wallClock: BenchmarkThresholds(relative: [.p90: 200]),
      .instructions: BenchmarkThresholds(relative: [.p90: 2]),
    ])
  for contender in Contender.all { measure(contender, clientCount: 100) }
  for contender in [.multicast, .multicastOpaque, .topic] as [Contender] {
    measure(contender, clientCount: 1)
  }
}

private func measure(_ contender: Contender, clientCount: Int) {
  // Thresholds are kept in files by this name, which are not found again if it has spaces.
  let name = contender.title.split { ", ".contains($0) }.joined(separator: "-")
  Benchmark("\(name)-\(clientCount)") { benchmark in
    let clients = makeClients(clientCount)
    let send = contender.make(clients)
    benchmark.startMeasurement()
    // A thousand events: whole batches, and whole bursts.
    send(benchmark.scaledIterations.count)
    benchmark.stopMeasurement()
    blackHole(clients)
  }
}
