import Multicast

nonisolated extension Topic where Message == String {
  static var query: Self { Topic("query") }
}

@MainActor final class Search {
  private(set) var searched: [String] = []
  private var waiting: Task<Void, Never>?
  private let pause: @Sendable () async -> Void

  /// A test passes a pause of its own.
  init(
    center: MulticastCenter,
    pause: @escaping @Sendable () async -> Void = {
      try? await Task.sleep(nanoseconds: 300_000_000)
    }
  ) {
    self.pause = pause
    center.observe(.query, owner: self, Search.queryChanged)
  }

  private func queryChanged(_ query: String) {
    waiting?.cancel()
    waiting = Task { [weak self, pause] in
      await pause()
      if !Task.isCancelled { self?.searched.append(query) }
    }
  }
}
