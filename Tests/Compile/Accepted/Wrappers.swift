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

// A library may use centers and delegates in its public interface, and inlinable functions may
// notify.

/// The events of a download.
public nonisolated protocol DownloadDelegate {
  /// The download has finished.
  func finished()
}

/// A type that a library of downloads might publish.
public nonisolated final class Download: Sendable {
  /// The center whose clients are notified, too.
  public let center: MulticastCenter

  /// The delegates of this download.
  public let delegates = MulticastDelegate<any DownloadDelegate>()

  /// Creates a download that also notifies the clients of a center.
  public init(center: MulticastCenter = .default) { self.center = center }

  /// Notifies all clients.
  @inlinable
  public func finish(_ site: CallSite = CallSite()) {
    center.notify(DownloadDelegate.self) { $0.finished() }
    print(site.description, delegates.map { $0.finished() })
  }
}
