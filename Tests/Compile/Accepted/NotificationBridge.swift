// Notifications in and out, in every isolation.
import Foundation
import Multicast
import MulticastFoundation

nonisolated protocol PowerProtocol {
  func powerChanged()
  func levelChanged(_ level: Double)
}

nonisolated struct Power: Sendable {
  let level: Double
}

extension Topic where Message == Power {
  nonisolated static var power: Self { Topic("power") }
}

nonisolated func bridge(_ center: MulticastCenter, sender: AnyObject) {
  let name = Notification.Name("power")
  let relay = center.relay(name, from: .default, to: PowerProtocol.self) { $0.powerChanged() }
  relay.cancel()
  print(relay.isActive, relay.dropped)
  center.relay(
    name, object: sender, to: PowerProtocol.self, map: { $0.userInfo?["level"] as? Double }
  ) {
    client, level in client.levelChanged(level)
  }
  center.relay(name, to: Topic<Power>("other")) { _ in nil }
  center.relay(name, to: .power) { ($0.userInfo?["level"] as? Double).map { Power(level: $0) } }
  center.forward(.power, as: name)
  center.forward(.power, to: NotificationCenter(), as: name) { ["level": $0.level] }
}

@MainActor final class Screen {
  var level = 0.0
  private var relay: NotificationRelay?

  func show(_ center: MulticastCenter, _ name: Notification.Name) {
    center.observe(.power, owner: self) { screen, power in screen.level = power.level }
    relay = center.relay(name, object: self, to: .power) { _ in Power(level: 1) }
    center.forward(.power, as: name, object: self)
    center.forward(.power, as: name, object: self) { ["level": $0.level] }.cancel()
  }
}

actor Meter {
  private var level = 0.0

  func observe(_ center: MulticastCenter, _ name: Notification.Name) {
    center.observe(.power, owner: self) { meter, power in await meter.set(power.level) }
    center.relay(name, to: .power) { _ in Power(level: 1) }
    center.forward(.power, as: name, object: self)
  }

  private func set(_ level: Double) { self.level = level }
}

nonisolated func keep(_ relay: NotificationRelay) {
  Task.detached { relay.cancel() }
}

// A main-actor protocol is called where it is.
@MainActor protocol ScreenProtocol {
  func show(_ level: Double)
}

nonisolated func showAll(_ center: MulticastCenter, _ name: Notification.Name) {
  center.relay(name, to: ScreenProtocol.self) { @MainActor in $0.show(1) }
  center.relay(name, to: ScreenProtocol.self, map: { $0.userInfo?["level"] as? Double }) {
    @MainActor in $0.show($1)
  }
}
