// Topics that keep their latest message.
import Multicast

struct Level: Sendable {
  var value = 0
}

extension Topic where Message == Level {
  nonisolated static var level: Self { Topic("level", keepsLatest: true) }
}

@MainActor final class Screen {
  var level = Level()

  func observe(_ center: MulticastCenter) {
    center.observe(.level, owner: self) { screen, level in screen.level = level }
    if let latest = center.latest(of: .level) { level = latest }
    center.removeLatest(of: .level)
  }
}

nonisolated func level(_ center: MulticastCenter) -> Int? {
  center.post(.level, Level(value: 1))
  let last: Level? = center.removeLatest(of: .level)
  return last?.value ?? center.latest(of: .level)?.value
}
