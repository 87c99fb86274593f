import Multicast
import Observation

nonisolated extension Topic where Message == Int {
  static var batteryLevel: Self {
    Topic("batteryLevel", keepsLatest: true)
  }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@Observable @MainActor final class BatteryModel {
  private(set) var level: Int?

  init(center: MulticastCenter) {
    center.observe(
      .batteryLevel, owner: self, BatteryModel.show)
  }
  private func show(_ level: Int) { self.level = level }
}
