import Multicast

// Handlers that receive the report of a loop.

nonisolated final class Log: Sendable {
  func add(_ report: RecursiveNotify) { print(report.path.map(\.fileID)) }
}

@Sendable nonisolated func handle(_ report: RecursiveNotify) {}

nonisolated func handlers(log: Log) {
  _ = MulticastCenter { _ in fatalError("A loop.") }
  _ = MulticastCenter(onRecursion: handle)
  _ = MulticastCenter(reentrancy: .allow(depth: 3)) { [weak log] in log?.add($0) }
  _ = MulticastDelegate<any Error>(reentrancy: .refuseNesting) { log.add($0) }
}

actor Session {
  lazy var center = MulticastCenter { [weak self] _ in Task { await self?.increase() } }
  var count = 0
  func increase() { count += 1 }
}

@MainActor final class Model {
  lazy var counting = MulticastCenter { [weak self] report in
    Task { @MainActor [weak self] in self?.count += report.path.count }
  }
  lazy var assuming = MulticastCenter { [weak self] _ in
    MainActor.assumeIsolated { self?.count += 1 }
  }
  var count = 0
}

// A function or a method as the handler. Without this feature, it is Sendable only if it is
// declared so.
#if hasFeature(InferSendableFromCaptures)
  nonisolated func report(_ report: RecursiveNotify) {}

  nonisolated func functions(log: Log) {
    _ = MulticastCenter(onRecursion: report)
    _ = MulticastCenter(onRecursion: log.add)
  }
#endif
