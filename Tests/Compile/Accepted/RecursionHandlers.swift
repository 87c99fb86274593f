import Multicast
import Synchronization

// What can be told about a loop, and to whom.

nonisolated protocol UserProtocol {
  func login()
}

nonisolated final class Log: Sendable {
  let count = Mutex(0)
  func add(_ report: RecursiveNotify) { count.withLock { $0 += report.path.count } }
}

nonisolated func closures(log: Log) {
  _ = MulticastCenter { print($0) }
  _ = MulticastCenter { report in assertionFailure("\(report)") }
  _ = MulticastCenter { _ in fatalError("A loop.") }
  _ = MulticastCenter(onRecursion: { log.add($0) })
  _ = MulticastCenter { [weak log] in log?.add($0) }
  _ = MulticastCenter { report in Task { @MainActor in print(report) } }
  _ = MulticastCenter(onRecursion: nil)
  _ = MulticastCenter(reentrancy: .allow(depth: 3)) { print($0.key) }
  _ = MulticastDelegate<any UserProtocol>(reentrancy: .refuseNesting) { log.add($0) }
  _ = MulticastCenter { report in
    for site in report.path { print(site, site.fileID, site.line, site.column) }
  }
}

@Sendable nonisolated func handle(_ report: RecursiveNotify) {}

nonisolated func functions() {
  _ = MulticastCenter(onRecursion: handle)
  _ = MulticastDelegate<any UserProtocol>(onRecursion: handle)
}

actor Session {
  let center = MulticastCenter { print($0) }
  lazy var counting = MulticastCenter { [weak self] _ in Task { await self?.increase() } }
  var count = 0
  func increase() { count += 1 }
}

@MainActor final class Model {
  let center = MulticastCenter { print($0) }
  lazy var counting = MulticastCenter { [weak self] report in
    Task { @MainActor [weak self] in self?.count += report.path.count }
  }
  lazy var assuming = MulticastCenter { [weak self] _ in
    MainActor.assumeIsolated { self?.count += 1 }
  }
  var count = 0
}

nonisolated func describe(_ policy: ReentrancyPolicy) -> String {
  switch policy {
  case .refuseLoops: "loops"
  case .refuseNesting: "nesting"
  case .allow(let depth): "\(depth)"
  }
}

nonisolated func fail(_ report: RecursiveNotify) throws { throw report }
