import Foundation
import Multicast
import TestSupport
import Testing

private protocol UserProtocol {
  func userLogin(_ id: UInt)
}
extension UserProtocol {
  func userLogin(_ id: UInt) {}
}
private protocol AccountProtocol: UserProtocol {}

private final class ProfileScreen: AccountProtocol {
  let logins = Collected<UInt>()
  func userLogin(_ id: UInt) { logins.add(id) }
}

/// Misspells the protocol's optional method.
private final class MisspelledScreen: UserProtocol {
  let logins = Collected<UInt>()
  func userLogin(id: UInt) { logins.add(id) }
}

/// Adds a client for its class, because the generic parameter is the class.
private func add<Client>(_ client: Client, to center: MulticastCenter) {
  center.add(client, for: Client.self, isolation: nil)
}

/// The symptoms in the article "Called twice? Never called?", and their causes.
@Suite struct SymptomTests {
  private let center = MulticastCenter()

  private func notify() -> Int { center.notify(UserProtocol.self) { $0.userLogin(1) } }

  // MARK: - Never called

  @Test @MainActor func theArticleShowsTheWiringOfARealCenter() throws {
    @MainActor final class ProfileScreen: @MainActor UserProtocol {}
    final class AuditLog: UserProtocol {}
    struct Mail {}
    @MainActor final class Inbox {}
    let (screen, log, inbox) = (ProfileScreen(), AuditLog(), Inbox())
    center.add(screen, for: UserProtocol.self)
    center.add(log, for: UserProtocol.self, on: nil)
    center.observe(
      Topic<Mail>("mail"), owner: inbox, fileID: "App/Inbox.swift", line: 9, column: 12
    ) {
      _, _ in
    }
    let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/Multicast/Multicast.docc/Articles/Symptoms.md")
    let shown = try String(contentsOf: article, encoding: .utf8)
      .components(separatedBy: "```text\n")[1].components(separatedBy: "```")[0]
    #if DEBUG
      #expect("\(center.wiring)\n" == shown)
    #endif
    extendLifetime((screen, log, inbox))
  }

  @Test func aSenderWithAnotherCenterCallsNoClient() {
    let other = MulticastCenter()
    let screen = ProfileScreen()
    other.add(screen, for: UserProtocol.self, isolation: nil)
    #expect(notify() == 0)
    #expect(other.wiring.protocols.first?.count == 1)
    #expect(center.wiring.protocols.allSatisfy { $0.count == 0 })

    let delegate = MulticastDelegate<any UserProtocol>()
    center.add(screen, for: UserProtocol.self, isolation: nil)
    #expect(delegate.notify { $0.userLogin(1) } == 0)
  }

  @Test func aPostToAMisspelledTopicCallsNoHandler() {
    let owner = Sentinel {}
    center.observe(Topic<Int>("speed"), owner: owner) { _, _ in }
    #expect(center.post(Topic<Int>("Speed"), 1).clients == 0)
    #expect(center.wiring.topics.first { $0.count == 1 }?.name.contains("\"speed\"") == true)
    #expect(center.post(Topic<Int>("speed"), 1).clients == 1)
    extendLifetime(owner)
  }

  @Test func aPostToATopicWithTheSameNameAndAnotherMessageTypeIsReported() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let (center, owner) = (MulticastCenter(), Sentinel {})
      center.observe(Topic<Int>("speed"), owner: owner) { _, _ in }
      for _ in 0..<2 { precondition(center.post(Topic<Double>("speed"), 1).clients == 0) }
      extendLifetime(owner)
    }
    #if DEBUG
      let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(
        message.contains(#"Topic<Double>("speed")"#) && message.contains(#"Topic<Int>("speed")"#))
      #expect(message.split(separator: "Multicast: ").count == 1)
    #endif
  }

  @Test(arguments: [true, false]) func topicsThatDisagreeAboutKeepsLatestStopADebugBuild(
    keepsLatest: Bool
  ) async {
    #if DEBUG
      await #expect(processExitsWith: .failure) { [keepsLatest] in
        let (center, owner) = (MulticastCenter(), kept(Sentinel {}))
        center.observe(Topic<Int>("speed", keepsLatest: keepsLatest), owner: owner) { _, _ in }
        center.post(Topic("speed", keepsLatest: !keepsLatest), 1)
      }
    #endif
  }

  @Test func aClientAddedForADerivedProtocolIsNotCalledForItsBase() {
    let screen = ProfileScreen()
    center.add(screen, for: AccountProtocol.self, isolation: nil)
    #expect(notify() == 0)
    #expect(center.wiring.protocols.first { $0.count == 1 }?.name == "AccountProtocol")
    center.remove(screen, for: AccountProtocol.self)
    center.add(screen, for: UserProtocol.self, isolation: nil)
    #expect(center.notify(AccountProtocol.self) { $0.userLogin(1) } == 0)
    #expect(notify() == 1)
  }

  @Test func aClientAddedForItsClassIsReportedWhenItsProtocolIsNotified() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let (center, screen) = (MulticastCenter(), ProfileScreen())
      add(screen, to: center)
      for _ in 0..<2 {
        precondition(center.notify(UserProtocol.self) { $0.userLogin(1) } == 0)
      }
      precondition(center.notify(ProfileScreen.self) { $0.userLogin(1) } == 1)
    }
    #if DEBUG
      let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(message.contains("ProfileScreen") && message.contains("UserProtocol"))
      #expect(message.split(separator: "Multicast: ").count == 1)
    #endif
  }

  @Test func aClientThatNoObjectOwnsIsNotCalled() {
    func makeScreen() -> ProfileScreen {
      let screen = ProfileScreen()
      center.add(screen, for: UserProtocol.self, isolation: nil)
      return screen
    }
    _ = makeScreen()
    #expect(notify() == 0)
    let screen = makeScreen()
    #expect(notify() == 1)
    extendLifetime(screen)
  }

  @Test func aHandlerWhoseOwnerNoObjectOwnsIsNotCalled() {
    let observation = center.observe(Topic<Int>("speed"), owner: Sentinel {}) { _, _ in }
    #expect(!observation.isActive)
    #expect(center.post(Topic<Int>("speed"), 1).clients == 0)
  }

  @Test func aMisspelledOptionalMethodIsNotCalled() {
    let calls = Journal()
    let center = MulticastCenter(onDelivery: { event in
      if case .called(let type, _) = event.phase { calls.write("\(type)") }
    })
    let screen = MisspelledScreen()
    center.add(screen, for: UserProtocol.self, isolation: nil)
    #expect(center.notify(UserProtocol.self) { $0.userLogin(1) } == 1)
    #expect(screen.logins.all == [])
    #expect(calls.all == ["MisspelledScreen"])
  }

  @Test func aListenerAddedAfterADeliveryMissesItUnlessTheTopicKeepsItsLatest() {
    let screen = ProfileScreen()
    #expect(notify() == 0)
    center.add(screen, for: UserProtocol.self, isolation: nil)
    #expect(screen.logins.all == [])
    #expect(notify() == 1)

    let topic = Topic<Int>("speed", keepsLatest: true)
    center.post(topic, 80)
    let received = Numbers()
    center.observe(topic, owner: received) { received, speed in received.add(speed) }
    #expect(received.all == [80])
  }

  @Test @MainActor func theWiringShowsLettersThatWaitForABlockedMainActor() async {
    @MainActor final class Screen: @MainActor UserProtocol {
      var logins = 0
      func userLogin(_ id: UInt) { logins += 1 }
    }
    let screen = Screen()
    center.add(screen, for: UserProtocol.self)
    onNewThread { [center] in center.post(UserProtocol.self) { $0.userLogin(1) } }
    #expect(screen.logins == 0)
    #expect(center.wiring.waiting.map(\.home) == ["MainActor"])
    #expect(center.wiring.waiting.map(\.letters) == [1])
    #expect("\(center.wiring)".contains("waiting in MainActor: 1 letter"))
    await center.settled()
    #expect(screen.logins == 1 && center.wiring.waiting == [])
  }

  // MARK: - Called twice

  @Test func anObjectAddedForTwoProtocolsIsCalledForEach() {
    let screen = ProfileScreen()
    for _ in 0..<2 {
      center.add(screen, for: UserProtocol.self, isolation: nil)
      center.add(screen, for: AccountProtocol.self, isolation: nil)
    }
    #expect(notify() == 1)
    center.notify(AccountProtocol.self) { $0.userLogin(2) }
    #expect(screen.logins.all == [1, 2])
    #expect(center.wiring.protocols.map(\.name).sorted() == ["AccountProtocol", "UserProtocol"])
  }

  @Test func aSecondHandlerFromOneLineIsReported() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      let (center, owner) = (MulticastCenter(), Sentinel {})
      for _ in 0..<3 { center.observe(Topic<Int>("speed"), owner: owner) { _, _ in } }
      extendLifetime(owner)
    }
    #if DEBUG
      let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(message.contains("Sentinel") && message.contains(#"Topic<Int>("speed")"#))
      #expect(message.split(separator: "Multicast: ").count == 1)
    #endif
  }

  @Test func observingAgainWithoutAnIDAddsAHandler() {
    let topic = Topic<Int>("speed")
    let received = Numbers()
    func appear(id: String?) {
      center.observe(topic, owner: received, id: id) { received, speed in received.add(speed) }
    }
    for _ in 0..<2 { appear(id: nil) }
    center.post(topic, 1)
    #expect(received.take() == [1, 1])
    #expect("\(center.wiring)".contains("× 2"))
    center.removeHandlers(of: topic)
    for _ in 0..<2 { appear(id: "screen") }
    center.post(topic, 2)
    #expect(received.all == [2])
  }

  @Test func anOldObjectThatIsStillAliveIsCalled() {
    let screens = [ProfileScreen(), ProfileScreen()]
    for screen in screens { center.add(screen, for: UserProtocol.self, isolation: nil) }
    #expect(notify() == 2)
    #expect("\(center.wiring)".contains("    ProfileScreen, posting thread, × 2"))
    extendLifetime(screens)
  }
}
