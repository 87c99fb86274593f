public import Multicast

// A generic wrapper hides the center and passes its callers' call sites on.

nonisolated struct Hub<Listener>: Sendable {
  let center: MulticastCenter

  func add(_ client: Listener, isolation: (any Actor)? = #isolation) {
    center.add(client, for: Listener.self, isolation: isolation)
  }

  @discardableResult
  func tell<Failure: Error>(
    fileID: StaticString = #fileID, line: Int = #line, column: Int = #column,
    _ body: (Listener) throws(Failure) -> Void
  ) throws(Failure) -> Int {
    try center.notify(Listener.self, fileID: fileID, line: line, column: column, body)
  }

  nonisolated(nonsending) func tellLater<Failure: Error>(
    line: Int = #line, _ body: nonisolated(nonsending) (Listener) async throws(Failure) -> Void
  ) async throws(Failure) {
    try await center.notify(
      Listener.self, fileID: #fileID, line: line, column: 1, awaiting: body)
  }
}

nonisolated protocol UserProtocol: Sendable {
  func login(_ number: Int)
  func sync() async throws
}

nonisolated func use(_ hub: Hub<any UserProtocol>, client: any UserProtocol) async throws {
  hub.add(client)
  hub.tell { $0.login(1) }
  try await hub.tellLater { try await $0.sync() }
}

actor Session {
  let hub = Hub<any UserProtocol>(center: .default)
  var count = 0

  func use() async throws {
    hub.tell { client in
      client.login(count)
      count += 1
    }
    try await hub.tellLater { client in
      try await client.sync()
      count += 1
    }
  }
}

// A library may show centers and delegates in its interface, and let its users inline its notifies.

/// What a download tells its delegates.
public nonisolated protocol DownloadDelegate {
  /// The download has finished.
  func finished()
}

/// What a library of downloads might publish.
public nonisolated final class Download: Sendable {
  /// Who else is told.
  public let center: MulticastCenter

  /// Who is told.
  public let delegates = MulticastDelegate<any DownloadDelegate>()

  /// A download that also tells the clients of a center.
  public init(center: MulticastCenter = .default) { self.center = center }

  /// Tells everybody.
  @inlinable
  public func finish(_ site: CallSite = CallSite()) {
    center.notify(DownloadDelegate.self) { $0.finished() }
    print(site.description, delegates.map { $0.finished() })
  }
}
