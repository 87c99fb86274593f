// Foundation's typed messages in and out, in every isolation.
import Foundation
import Multicast
import MulticastFoundation

nonisolated protocol LevelProtocol {
  func levelChanged(_ level: Int)
}

@MainActor protocol ScreenProtocol {
  func show(_ level: Int)
}

nonisolated final class Meter: Sendable {}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
nonisolated struct Shown: NotificationCenter.MainActorMessage {
  final class Label {
    var level = 0
  }
  typealias Subject = Meter
  let label: Label
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
nonisolated struct Changed: NotificationCenter.AsyncMessage {
  typealias Subject = Meter
  let level: Int
}

extension Topic where Message == Int {
  nonisolated static var level: Self { Topic("level") }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
nonisolated func bridge(_ center: MulticastCenter, _ meter: Meter) {
  center.relay(Shown.self, to: ScreenProtocol.self) { $0.show($1.label.level) }
  center.relay(Shown.self, from: .default, of: meter, to: LevelProtocol.self) { client, message in
    client.levelChanged(message.label.level)
  }
  center.relay(Shown.self, of: meter, to: .level) { $0.label.level }.cancel()
  center.relay(Changed.self, to: LevelProtocol.self) { $0.levelChanged($1.level) }
  center.relay(Changed.self, to: ScreenProtocol.self) { @MainActor in $0.show($1.level) }
  center.relay(Changed.self, from: NotificationCenter(), to: Topic<Changed>("all")) { $0 }
  center.forward(.level, as: Changed.self) { Changed(level: $0) }
  center.forward(.level, as: Changed.self, subject: meter) { level in
    if level < 0 { return nil }
    return Changed(level: level)
  }
  center.forward(.level, to: NotificationCenter(), as: Shown.self) { _ in
    Shown(label: Shown.Label())
  }
  center.forward(.level, as: Shown.self, subject: meter) { _ in Shown(label: Shown.Label()) }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@MainActor func bridgeOnTheMainActor(_ center: MulticastCenter) {
  center.relay(Shown.self, to: ScreenProtocol.self) { $0.show($1.label.level) }
  center.relay(Changed.self, to: LevelProtocol.self) { $0.levelChanged($1.level) }
  center.forward(.level, as: Shown.self) { _ in Shown(label: Shown.Label()) }
}
