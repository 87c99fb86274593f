// only: 6-* 5-approachable-* (elsewhere a function is Sendable only if it says so)
import Multicast

// A function or a method as the handler.

nonisolated final class Log: Sendable {
  func add(_ report: RecursiveNotify) {}
}

nonisolated func handle(_ report: RecursiveNotify) {}

nonisolated func functions(log: Log) {
  _ = MulticastCenter(onRecursion: handle)
  _ = MulticastCenter(onRecursion: log.add)
}
