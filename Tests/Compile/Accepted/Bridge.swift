import Foundation
import Multicast
import MulticastFoundation

// Notifications, and Foundation's typed messages, in and out, in every isolation.

nonisolated protocol LevelProtocol {
  func levelChanged(_ level: Int)
}

@MainActor protocol ScreenProtocol {
  func show(_ level: Int)
}

extension Topic where Message == Int {
  nonisolated static var level: Self { Topic("level") }
}

nonisolated func bridge(_ center: MulticastCenter, _ name: Notification.Name, sender: AnyObject) {
  let relay = center.relay(name, from: .default, to: LevelProtocol.self) { $0.levelChanged(1) }
  Task.detached { relay.cancel() }
  center.relay(
    name, object: sender, to: LevelProtocol.self, map: { $0.userInfo?["level"] as? Int }
  ) { client, level in client.levelChanged(level) }
  center.relay(name, to: Topic<String>("other")) { _ in nil }
  center.relay(name, to: .level) { ($0.userInfo?["level"] as? Double).map { Int($0) } }
  center.forward(.level, to: NotificationCenter(), as: name) { ["level": $0] }
  // Clients of a protocol of the main actor are called there, so the body names the actor.
  center.relay(name, to: ScreenProtocol.self) { @MainActor in $0.show(1) }
  center.relay(name, to: ScreenProtocol.self, map: { $0.userInfo?["level"] as? Int }) {
    @MainActor in $0.show($1)
  }
}

@MainActor final class Screen {
  var level = 0
  private var relay: NotificationRelay?

  func show(_ center: MulticastCenter, _ name: Notification.Name) {
    relay = center.relay(name, object: self, to: .level) { _ in 1 }
    center.forward(.level, as: name, object: self)
    center.forward(.level, as: name, object: self) { ["level": $0] }.cancel()
  }
}

actor Meter {
  func observe(_ center: MulticastCenter, _ name: Notification.Name) {
    center.forward(.level, as: name, object: self)
  }
}

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

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
nonisolated func bridgeMessages(_ center: MulticastCenter, _ meter: Meter) {
  center.relay(Shown.self, to: ScreenProtocol.self) { $0.show($1.label.level) }
  center.relay(Shown.self, from: .default, of: meter, to: LevelProtocol.self) { client, message in
    client.levelChanged(message.label.level)
  }
  center.relay(Shown.self, of: meter, to: .level) { $0.label.level }.cancel()
  center.relay(Changed.self, to: LevelProtocol.self) { $0.levelChanged($1.level) }
  center.relay(Changed.self, to: ScreenProtocol.self) { @MainActor in $0.show($1.level) }
  center.relay(Changed.self, from: NotificationCenter(), to: Topic<Changed>("all")) { $0 }
  center.forward(.level, as: Changed.self, subject: meter) { level in
    if level < 0 { return nil }
    return Changed(level: level)
  }
  center.forward(.level, as: Shown.self, subject: meter) { _ in Shown(label: Shown.Label()) }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
@MainActor func bridgeMessagesOnTheMainActor(_ center: MulticastCenter) {
  center.relay(Shown.self, to: ScreenProtocol.self) { $0.show($1.label.level) }
  center.forward(.level, as: Shown.self) { _ in Shown(label: Shown.Label()) }
}
