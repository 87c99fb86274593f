public import Multicast

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
