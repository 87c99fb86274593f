import TestSupport
import Foundation
import Multicast
import MulticastFoundation
import Testing

/// Notifications come in as messages.
@Suite struct RelayToTopicTests {
  let journal = Journal()
  let center = MulticastCenter()
  let source = NotificationCenter()
  let owner = kept(Owner())

  @Test func handlersThatRunAnywhereHaveRunWhenThePostReturns() {
    center.observe(.power, owner: owner) { _, power in journal.write("\(power.level)") }
    center.relay(.power, from: source, to: .power) { $0.power }
    source.postPower(1)
    source.postPower(2)
    #expect(journal.read() == "1 2")
  }

  @Test func whatCannotBeMappedIsDroppedAndCounted() {
    center.observe(.power, owner: owner) { _, power in journal.write("\(power.level)") }
    let relay = center.relay(.power, from: source, to: .power) { $0.power }
    source.post(name: .power, object: nil)
    source.postPower(1)
    #expect(relay.dropped == 1)
    #expect(journal.read() == "1")
  }

  @Test func whatARelayPostsIsToldWithTheRelayAsItsCallSite() throws {
    let events = Locked<[DeliveryEvent]>([])
    let center = MulticastCenter(onDelivery: { event in events.withLock { $0.append(event) } })
    center.observe(.power, owner: owner) { _, _ in }
    let line = #line + 1
    center.relay(.power, from: source, to: .power) { $0.power }
    source.postPower(1)
    let told = events.withLock { $0 }
    #expect(told.count == 3)
    #expect(told.allSatisfy { $0.way == .post && $0.site.line == line })
    extendLifetime((center, owner))
  }

  @Test func whatNobodyObservesIsNotDropped() {
    let relay = center.relay(.power, from: source, to: .power) { $0.power }
    source.postPower(1)
    #expect(relay.dropped == 0)
  }

  @MainActor final class Screen {
    var shown: [Int] = []
  }

  @MainActor @Test func theMainActorIsReachedWithinTheSameTurn() {
    let screen = Screen()
    center.observe(.power, owner: screen) { screen, power in screen.shown.append(power.level) }
    center.relay(.power, from: source, to: .power) { $0.power }
    postAsFoundationDoes(1)
    #expect(screen.shown == [1])
  }

  /// Without anything that says to the compiler where it runs.
  nonisolated private func postAsFoundationDoes(_ level: Int) {
    source.postPower(level)
  }

  @MainActor @Test func theMainActorIsReachedFromElsewhere() {
    let (center, source) = (center, source)
    let screen = Screen()
    center.observe(.power, owner: screen) { screen, power in screen.shown.append(power.level) }
    center.relay(.power, from: source, to: .power) { $0.power }
    onNewThread { for level in 0..<100 { source.postPower(level) } }
    // This turn has not ended yet.
    #expect(screen.shown.isEmpty)
    // It is handled in this turn, behind those before it.
    center.post(.power, Power(level: 100))
    #expect(screen.shown == Array(0...100))
  }

  @MainActor protocol ScreenProtocol {
    func show(_ power: Power)
  }

  @MainActor final class MainClient: ScreenProtocol {
    var shown: [Power] = []
    func show(_ power: Power) { shown.append(power) }
  }

  @MainActor @Test func aTopicLeadsToAMainActorProtocol() {
    let client = MainClient()
    center.add(client, for: ScreenProtocol.self)
    center.observe(.power, owner: client) { [center] _, power in
      center.notify(ScreenProtocol.self) { $0.show(power) }
    }
    center.relay(.power, from: source, to: .power) { $0.power }
    postAsFoundationDoes(1)
    #expect(client.shown == [Power(level: 1)])
  }

  @Test(.timeLimit(.minutes(5))) func aLoopOverMessagesTakesNotifications() async {
    let messages = center.messages(of: .power)
    center.relay(.power, from: source, to: .power) { $0.power }
    source.postPower(1)
    source.postPower(2)
    var levels: [Int] = []
    for await power in messages {
      levels.append(power.level)
      if levels.count == 2 { break }
    }
    #expect(levels == [1, 2])
  }
}
