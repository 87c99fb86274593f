import Multicast
import Observation
import SwiftUI

@MainActor protocol DownloadProtocol {
  func downloadDidProgress(to fraction: Double)
}

@Observable @MainActor final class DownloadModel: DownloadProtocol {
  private(set) var fraction = 0.0

  init(center: MulticastCenter = .default) { center.add(self, for: DownloadProtocol.self) }
  func downloadDidProgress(to fraction: Double) { self.fraction = fraction }
}

nonisolated struct Connection: Sendable {
  var isOnline = true
}
nonisolated extension Topic where Message == Connection {
  static var connection: Self { Topic("connection", keepsLatest: true) }
}

// the example
