import Multicast
import TestSupport
import Testing

/// What `onDelivery` does with the center is carried out, and not reported to itself.
@Suite struct CallbackTests {
  private final class Box: Sendable {
    let center = Locked<MulticastCenter?>(nil)
    let count = Atomic<Int>(0)
  }

  private static let latest = Topic<Int>("latest", keepsLatest: true)

  enum Use: CaseIterable { case addAndRemove, observe, observeUnderAnID, post, postLatest, notify }

  @Test(arguments: Use.allCases) func itEndsAndIsNotReported(use: Use) {
    let box = Box()
    let owner = Owner()
    let other = Counter()
    let center = MulticastCenter { _ in
    } onDelivery: { _ in
      // If it is reported to itself, this ends it.
      guard box.count.wrappingAdd(1, ordering: .relaxed).newValue < 1_000,
        let center = box.center.withLock({ $0 })
      else { return }
      switch use {
      case .addAndRemove:
        center.add(other, for: PingProtocol.self, on: nil)
        center.remove(other, for: PingProtocol.self)
      case .observe: center.observe(Self.latest, owner: owner) { _, _ in }
      case .observeUnderAnID: center.observe(Self.latest, owner: owner, id: 1) { _, _ in }
      case .post: center.post(PingProtocol.self) { $0.ping(1) }
      case .postLatest: center.post(Self.latest, 2)
      case .notify: center.notify(PingProtocol.self) { $0.ping(1) }
      }
    }
    center.post(Self.latest, 1)
    let counter = kept(Counter())
    center.add(counter, for: PingProtocol.self, on: nil)
    box.center.withLock { $0 = center }
    box.count.store(0, ordering: .relaxed)
    center.post(PingProtocol.self) { $0.ping(1) }
    #expect(box.count.load(ordering: .relaxed) == 3)
    center.notify(PingProtocol.self) { $0.ping(1) }
    #expect(box.count.load(ordering: .relaxed) == 6)
    box.center.withLock { $0 = nil }
    #expect(counter.calls >= 2)
    extendLifetime((owner, other))
  }

  /// The home of those without one is claimed while the callback observes, so what its observer begins with waits.
  @Test func whatItsObserverBeginsWithIsNotReportedLater() {
    let box = Box()
    let owner = Owner()
    let center = MulticastCenter { _ in
    } onDelivery: { _ in
      guard box.count.wrappingAdd(1, ordering: .relaxed).newValue < 1_000 else { return }
      box.center.withLock { $0 }?.observe(Self.latest, owner: owner) { _, _ in }
    }
    center.observe(Self.latest, owner: owner) { _, _ in }
    box.center.withLock { $0 = center }
    center.post(Self.latest, 1)
    #expect(box.count.load(ordering: .relaxed) < 10)
    box.center.withLock { $0 = nil }
    extendLifetime(owner)
  }
}
