import Foundation
import Multicast

/// A slow client.
final class Backup: UserProtocol {
  init(center: MulticastCenter) {
    center.add(self, for: UserProtocol.self)
  }

  func logout() {
    Thread.sleep(forTimeInterval: 0.03)
    print("  Backup: everything is saved")
  }
}
