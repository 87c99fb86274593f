import Foundation
import Multicast
import MulticastFoundation
import TestSupport
import Testing

/// Relays and forwards of Foundation's typed messages.
@Suite struct TypedMessageTests {
  /// Not Sendable, because a message of the main actor need not be.
  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  struct Shown: NotificationCenter.MainActorMessage {
    final class Label {
      let level: Int
      init(_ level: Int) { self.level = level }
    }
    typealias Subject = Sender
    let label: Label
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  struct Changed: NotificationCenter.AsyncMessage {
    typealias Subject = Sender
    let level: Int
  }

  let journal = Journal()
  let center = MulticastCenter()
  let source = NotificationCenter()
  let owner = kept(Owner())

  @MainActor private func addScreen() -> Screen {
    let screen = kept(Screen())
    center.add(screen, for: ScreenProtocol.self)
    return screen
  }

  // MARK: Of the main actor

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  @MainActor @Test func aMainActorMessageCallsClientsBeforePostReturns() {
    let screen = addScreen()
    var subject: Sender? = Sender()
    weak var weakSubject: Sender?
    weakSubject = subject
    let ofSubject = center.relay(
      Shown.self, from: source, of: subject, to: ScreenProtocol.self
    ) { $0.show(-$1.label.level) }
    let all = center.relay(Shown.self, from: source, to: ScreenProtocol.self) {
      $0.show($1.label.level)
    }
    source.post(Shown(label: .init(1)))
    source.post(Shown(label: .init(2)), subject: Sender())
    source.post(Shown(label: .init(3)), subject: subject!)
    #expect(screen.shown.sorted() == [-3, 1, 2, 3])
    all.cancel()
    #expect(!all.isActive)
    subject = nil
    #expect(weakSubject == nil)
    #expect(!ofSubject.isActive)
    // One of these senders is allocated at the address of the deallocated subject.
    for other in (0..<1000).map({ _ in Sender() }) {
      source.post(Shown(label: .init(4)), subject: other)
    }
    #expect(screen.shown.count == 4)
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  @MainActor @Test func aMainActorMessageIsMappedToAMessageOfATopic() {
    center.observe(.power, owner: owner) { _, power in journal.write("\(power.level)") }
    let relay = center.relay(Shown.self, from: source, to: .power) {
      $0.label.level > 1 ? Power(level: $0.label.level) : nil
    }
    for level in 1...3 { source.post(Shown(label: .init(level))) }
    #expect(journal.readLevels() == [2, 3])
    #expect(relay.dropped == 1)
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  @MainActor @Test func messagesOfATopicAreForwardedOnTheMainActor() async {
    let (center, source) = (center, source)
    var shown: [Int] = []
    let subject = Sender()
    let token = source.addObserver(for: Shown.self) { shown.append($0.label.level) }
    let ofSubject = source.addObserver(of: subject, for: Shown.self) {
      shown.append(-$0.label.level)
    }
    let forward = center.forward(.power, to: source, as: Shown.self) {
      $0.level > 1 ? Shown(label: .init($0.level)) : nil
    }
    await Task.detached {
      for level in 1...3 { await center.post(.power, Power(level: level)).delivered() }
    }.value
    #expect(shown == [2, 3])
    forward.cancel()
    center.forward(.power, to: source, as: Shown.self, subject: subject) {
      Shown(label: .init($0.level))
    }
    center.post(.power, Power(level: 4))
    #expect(shown.sorted() == [-4, 2, 3, 4])
    extendLifetime((token, ofSubject, subject))
  }

  // MARK: Of any thread

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  @Test(.timeLimit(.minutes(5))) func asynchronousMessagesAreRelayedInOrder() async {
    let messages = center.messages(of: .power)
    let relay = center.relay(Changed.self, from: source, to: .power) {
      $0.level >= 0 ? Power(level: $0.level) : nil
    }
    source.post(Changed(level: -1))
    for level in 0..<1000 { source.post(Changed(level: level), subject: Sender()) }
    #expect(await messages.levels(1000) == Array(0..<1000))
    #expect(relay.dropped == 1)
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  @Test(.timeLimit(.minutes(5))) func onlyAsynchronousMessagesOfTheSubjectAreRelayed() async {
    let messages = center.messages(of: .power)
    let (one, other) = (Sender(), Sender())
    center.relay(Changed.self, from: source, of: one, to: .power) { Power(level: $0.level) }
    for level in 0..<100 {
      source.post(Changed(level: -level), subject: other)
      source.post(Changed(level: level), subject: one)
    }
    #expect(await messages.levels(100) == Array(0..<100))
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  @MainActor @Test(.timeLimit(.minutes(5))) func asynchronousMessagesCallClientsInTheirHome() async
  {
    let screen = addScreen()
    center.relay(Changed.self, from: source, to: ScreenProtocol.self) { @MainActor in
      $0.show($1.level)
    }
    for level in 0..<100 { source.post(Changed(level: level)) }
    await screen.wait(for: 100)
    #expect(screen.shown == Array(0..<100))
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  @Test(.timeLimit(.minutes(5))) func noMessageIsRelayedAfterCancelOrTheDeallocationOfTheCenter()
    async
  {
    let messages = center.messages(of: .power)
    do {
      let sentinel = Sentinel(journal)
      let cancelled = center.relay(Changed.self, from: source, to: .power) {
        extendLifetime(sentinel)
        return Power(level: -$0.level)
      }
      cancelled.cancel()
      #expect(!cancelled.isActive)
    }
    // The objects that its closure captured are released.
    await journal.wait(for: 1)
    var other: MulticastCenter? = MulticastCenter()
    let end = Journal()
    other!.attach(Sentinel(end))
    let relay = other!.relay(Changed.self, from: source, to: .power) { Power(level: $0.level) }
    center.relay(Changed.self, from: source, to: .power) { Power(level: $0.level) }
    for level in 1...100 { source.post(Changed(level: level)) }
    #expect(await messages.levels(100) == Array(1...100))
    other = nil
    // A message in delivery may still retain the center.
    await end.wait(for: 1)
    #expect(!relay.isActive)
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  @Test(.timeLimit(.minutes(5))) func messagesOfATopicAreForwardedAsAsynchronousMessages() async {
    let (comesIn, stream) = (MulticastCenter(), Topic<Power>("in"))
    let messages = comesIn.messages(of: stream)
    comesIn.relay(Changed.self, from: source, to: stream) { Power(level: $0.level) }
    let subject = kept(Sender())
    let forward = center.forward(.power, to: source, as: Changed.self) {
      $0.level > 1 ? Changed(level: $0.level) : nil
    }
    for level in 1...3 { center.post(.power, Power(level: level)) }
    forward.cancel()
    center.forward(.power, to: source, as: Changed.self, subject: subject) {
      Changed(level: -$0.level)
    }
    center.post(.power, Power(level: 4))
    #expect(await messages.levels(3) == [2, 3, -4])
  }

  /// Two types may have one name, in two modules or in two types.
  enum Other {
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    struct Changed: NotificationCenter.AsyncMessage {
      typealias Subject = Sender
    }
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  @Test func aForwardDoesNotReplaceThatOfAnotherTypeOfTheSameName() {
    let subject = kept(Sender())
    for _ in 0..<2 {
      center.forward(.power, to: source, as: Changed.self, subject: subject) { _ in nil }
      center.forward(.power, to: source, as: Other.Changed.self, subject: subject) { _ in nil }
    }
    #expect(center.post(.power, Power(level: 1)).clients == 2)
  }

  // MARK: The wiring

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  @Test func aWiringListsTheCallSiteOfATypedForward() {
    let subject = kept(Sender())
    let first = #line + 1
    center.forward(.power, to: source, as: Shown.self) { _ in nil }
    center.forward(.power, to: source, as: Shown.self, subject: subject) { _ in nil }
    center.forward(.power, to: source, as: Changed.self) { _ in nil }
    center.forward(.power, to: source, as: Changed.self, subject: subject) { _ in nil }
    #if DEBUG
      let sites = center.wiring.topics.flatMap(\.listeners).compactMap(\.site)
      #expect(sites.map(\.line) == Array(first..<first + 4))
      #expect(Set(sites.map(\.fileID)) == [CallSite().fileID])
    #endif
  }
}
