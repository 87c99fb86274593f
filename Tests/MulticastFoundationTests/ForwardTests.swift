import Foundation
import Multicast
import MulticastFoundation
import TestSupport
import Testing

/// A forward posts the messages of a topic as notifications.
@Suite struct ForwardTests {
  let owner = kept(Owner())
  let journal = Journal()
  let center = MulticastCenter()
  let target = NotificationCenter()

  /// Adds an observer to the target that writes into the journal.
  private func listen(_ entry: @escaping @Sendable (Notification) -> String) {
    _ = target.addObserver(forName: .power, object: nil, queue: nil) { notification in
      journal.write(entry(notification))
    }
  }

  private func post(_ level: Int) -> Int { center.post(.power, Power(level: level)).clients }

  @Test func aMessageIsForwardedWithItsUserInfo() {
    listen { "\($0.name.rawValue)=\($0.level ?? -1),\($0.object == nil),\($0.userInfo == nil)" }
    center.forward(.power, to: target, as: .power) { $0.level == 1 ? nil : ["level": $0.level] }
    for level in 1...2 { #expect(post(level) == 1) }
    center.forward(.power, to: target, as: .power)
    #expect(post(2) == 2)
    let full = "power=2,true,false"
    let empty = "power=-1,true,true"
    #expect(journal.read() == [empty, full, full, empty].joined(separator: " "))
  }

  @Test func aForwardPostsToTheDefaultNotificationCenterByDefault() {
    let name = Notification.Name(UUID().uuidString)
    let observer = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
      journal.write("\($0.level ?? -1)")
    }
    center.forward(.power, as: name) { ["level": $0.level] }
    #expect(post(1) == 1)
    #expect(journal.read() == "1")
    NotificationCenter.default.removeObserver(observer)
  }

  @Test func aForwardPostsOnThePostingThreadInTheOrderOfRegistration() {
    let (center, journal) = (center, journal)
    center.observe(.power, owner: owner, id: 1) { _, _ in journal.write("before") }
    center.forward(.power, to: target, as: .power)
    center.observe(.power, owner: owner, id: 2) { _, _ in journal.write("after") }
    let thread = Slot<ObjectIdentifier>()
    listen { _ in
      thread.value == ObjectIdentifier(Thread.current) ? "forwarded" : "elsewhere"
    }
    onNewThread {
      thread.value = ObjectIdentifier(Thread.current)
      center.post(.power, Power(level: 1))
    }
    #expect(journal.read() == "before forwarded after")
  }

  @Test func aWiringListsTheNamesThatForwardsPost() {
    let sender = kept(Sender())
    center.forward(.power, to: target, as: .power)
    center.forward(.power, to: target, as: .otherPower, object: sender)
    let observers = center.wiring.topics.flatMap(\.listeners)
    #expect(observers.map(\.type) == ["NotificationForward", "Sender"])
    #expect(observers.map(\.id) == ["power", "otherPower"])
  }

  @Test func aWiringListsTheCallSiteOfAForward() {
    let sender = kept(Sender())
    let first = #line + 1
    center.forward(.power, to: target, as: .power)
    center.forward(.power, to: target, as: .otherPower, object: sender)
    let sites = center.wiring.topics.flatMap(\.listeners).map(\.site)
    #if DEBUG
      #expect(sites.map { $0?.line } == [first, first + 1])
      #expect(Set(sites.map { $0?.fileID }) == ["MulticastFoundationTests/ForwardTests.swift"])
    #else
      #expect(sites == [nil, nil])
    #endif
  }

  // MARK: Life

  /// Adds a forward that writes "end" when its closure is released.
  private func forward(in center: MulticastCenter) -> TopicObservation {
    let sentinel = Sentinel(journal)
    return center.forward(.power, to: target, as: .power) { power in
      extendLifetime(sentinel)
      return ["level": power.level]
    }
  }

  @Test func aForwardEndsWhenItIsRemoved() {
    let removals: [(TopicObservation) -> Void] = [
      { $0.cancel() }, { _ in center.removeHandlers(of: .power) }, { _ in center.removeAll() },
    ]
    for remove in removals {
      let observation = forward(in: center)
      #expect(observation.isActive)
      remove(observation)
      #expect(!observation.isActive)
      #expect(post(1) == 0)
      #expect(journal.read() == "end")
    }
  }

  @Test func aForwardRetainsItsTargetAndEndsWithItsCenter() {
    var center = Optional(MulticastCenter())
    var target = Optional(NotificationCenter())
    weak var reference: NotificationCenter?
    reference = target
    let observation = forward(in: center!)
    let other = center!.forward(.power, to: target!, as: .power)
    target = nil
    #expect(reference != nil)
    other.cancel()
    center?.post(.power, Power(level: 1))
    #expect(reference == nil)
    center = nil
    #expect(journal.read() == "end")
    #expect(!observation.isActive)
  }

  // MARK: Senders

  @Test func aForwardPostsItsSenderAsTheObjectAndEndsWithTheSender() {
    var sender = Optional(Sender())
    weak var weakSender: Sender?
    weakSender = sender
    listen { "\($0.level ?? -1)\($0.object is Sender)" }
    let observation = center.forward(.power, to: target, as: .power, object: sender!) {
      ["level": $0.level]
    }
    #expect(post(1) == 1)
    #expect(observation.isActive)
    #expect(journal.read() == "1true")
    sender = nil
    #expect(weakSender == nil)
    #expect(!observation.isActive)
    #expect(post(1) == 0)
  }

  @Test func aSecondForwardOfASenderReplacesTheFirst() {
    let (sender, other) = (Sender(), Sender())
    defer { extendLifetime((sender, other)) }
    listen { "\($0.level ?? -1)" }
    center.forward(.power, to: target, as: .power, object: sender) { ["level": $0.level] }
    center.forward(.power, to: target, as: .power, object: sender) { ["level": 10 * $0.level] }
    #expect(post(1) == 1)
    #expect(journal.read() == "10")
    // Forwards to other names and targets do not replace each other.
    center.forward(.power, to: target, as: .otherPower, object: sender)
    center.forward(.power, to: NotificationCenter(), as: .power, object: sender)
    center.forward(.power, to: target, as: .power, object: other)
    #expect(post(1) == 4)
    #expect(center.remove(sender) == 3)
    #expect(post(1) == 1)
  }
}

/// A center retains the objects that are attached to it.
@Suite struct AttachmentTests {
  let center = MulticastCenter()
  let journal = Journal()

  @Test func aDetachedObjectIsReleased() {
    weak var sentinel: Sentinel?
    do {
      let attached = Sentinel(journal)
      sentinel = attached
      center.attach(attached)
      center.attach(attached)
    }
    #expect(journal.read() == "")
    if let sentinel { center.detach(sentinel) }
    #expect(journal.read() == "end")
    #expect(sentinel == nil)
  }

  @Test func anAttachedObjectIsReleasedAfterItsCenterIsGone() {
    do {
      let center = MulticastCenter()
      center.attach(
        Sentinel { [weak center] in journal.write(center == nil ? "gone" : "there") })
      // Detaching an object that is not attached does nothing.
      center.detach(Sentinel(journal))
      #expect(journal.read() == "end")
    }
    #expect(journal.read() == "gone")
  }
}

#if canImport(Combine)
  import Combine
  import Multicast
  import MulticastFoundation
  import Testing

  /// A topic's publisher respects demand and cancellation.
  @Suite struct PublisherTests {
    private final class Sink: Subscriber {
      var received: [Int] = []
      var subscription: (any Subscription)?
      private let first: Subscribers.Demand
      private let onMessage: (Sink, Int) -> Subscribers.Demand

      init(_ first: Subscribers.Demand, _ onMessage: @escaping (Sink, Int) -> Subscribers.Demand) {
        self.first = first
        self.onMessage = onMessage
      }

      func receive(subscription: any Subscription) {
        self.subscription = subscription
        subscription.request(first)
      }

      func receive(_ message: Int) -> Subscribers.Demand {
        received.append(message)
        return onMessage(self, message)
      }

      func receive(completion: Subscribers.Completion<Never>) {}
    }

    let center = MulticastCenter()
    let topic = Topic<Int>("number")

    private func subscribe(
      _ first: Subscribers.Demand,
      _ onMessage: @escaping (Sink, Int) -> Subscribers.Demand = { _, _ in .none }
    ) -> Sink {
      let sink = Sink(first, onMessage)
      center.publisher(for: topic).receive(subscriber: sink)
      return sink
    }

    @Test func messagesWithoutDemandAreDropped() {
      let (all, two, late) = (subscribe(.unlimited), subscribe(.max(2)), subscribe(.none))
      let growing = subscribe(.max(1)) { _, number in number < 3 ? .max(1) : .none }
      for number in 1...5 { center.post(topic, number) }
      late.subscription?.request(.max(1))
      center.post(topic, 6)
      #expect(all.received == [1, 2, 3, 4, 5, 6])
      #expect(two.received == [1, 2])
      #expect(late.received == [6])
      #expect(growing.received == [1, 2, 3])
    }

    @Test func cancellingASubscriptionRemovesItsHandler() {
      let sink = subscribe(.unlimited) { sink, number in
        if number == 2 { sink.subscription?.cancel() }
        return .none
      }
      for number in 1...3 { center.post(topic, number) }
      #expect(sink.received == [1, 2])
      #expect(center.post(topic, 4).clients == 0)
    }

    @Test func aSubscriberReceivesTheLatestMessageFirst() {
      let topic = Topic<Int>("level", keepsLatest: true)
      center.post(topic, 1)
      let sink = Sink(.unlimited) { _, _ in .none }
      center.publisher(for: topic).receive(subscriber: sink)
      center.post(topic, 2)
      #expect(sink.received == [1, 2])
      extendLifetime(sink)
    }
  }
#endif

/// Relaying and forwarding a notification that Foundation itself posts.
@Suite struct SystemNotificationTests {
  let journal = Journal()
  let center = MulticastCenter()

  /// Creates a port. Foundation posts a notification in the default center when it becomes invalid.
  ///
  /// Not `Port()`: on Apple's platforms this is a Mach port, which allows no weak references.
  private func makePort() throws -> Port { try #require(SocketPort(tcpPort: 0)) }

  @Test func aSystemNotificationCallsClientsAndIsForwarded() throws {
    center.adding(Client("ended", journal))
    let target = NotificationCenter()
    let observer = target.addObserver(forName: .power, object: nil, queue: nil) { notification in
      journal.write("\(notification.level ?? -1)")
    }
    let (port, other) = (try makePort(), try makePort())
    let name = Port.didBecomeInvalidNotification
    center.relay(name, object: port, to: PowerProtocol.self) { $0.powerChanged(0) }
    center.relay(name, object: port, to: .power) { $0.object is Port ? Power(level: 7) : nil }
    center.forward(.power, to: target, as: .power) { ["level": $0.level] }
    other.invalidate()
    #expect(journal.read() == "")
    port.invalidate()
    #expect(journal.read().split(separator: " ").sorted() == ["7", "ended0"])
    target.removeObserver(observer)
  }
}
