import TestSupport
import Testing

@testable import Multicast

/// Handlers: `once:`, and owners with many of them.
@Suite struct ObserverMendTests {
  let owner = kept(Owner())
  let center = MulticastCenter()

  @Test(arguments: [false, true]) func aPostInTheLastCallDoesNotCountTheHandler(awaits: Bool) async
  {
    let counts = Numbers()
    let post: @Sendable (Login) -> Void = { [center] login in
      counts.add(center.post(.login, Login(id: login.id + 1)).clients)
    }
    if awaits {
      center.observe(.login, owner: owner, once: true) { _, login in
        await Task.yield()
        post(login)
      }
    } else {
      center.observe(.login, owner: owner, once: true) { _, login in post(login) }
    }
    center.post(.login, Login(id: 1))
    await counts.wait(for: 1)
    await center.settled()
    #expect(counts.all == [0])
  }

  /// One more handler of an owner is compared with few others, however many there are.
  @Test func oneMoreHandlerOfAnOwnerTakesNoLonger() {
    struct ID: Hashable, Sendable {
      static let comparisons = Atomic<Int>(0)
      let number: Int
      static func == (one: Self, other: Self) -> Bool {
        comparisons.wrappingAdd(1, ordering: .relaxed)
        return one.number == other.number
      }
      func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }
    for number in 0..<5_000 {
      center.observe(.login, owner: owner, id: ID(number: number)) { _, _ in }
    }
    #expect(ID.comparisons.load(ordering: .relaxed) < 2 * 5_000)
  }

  /// Owners with several handlers in a long list, with and without ids, against a model.
  @Test func ownersLoseTheirHandlers() {
    let (called, owners) = (Numbers(), (0..<200).map { _ in kept(Owner()) })
    var registered = [[(number: Int, id: Int?, token: TopicObservation)]](repeating: [], count: 200)
    for step in 0..<8_000 {
      let index = step &* 7_919 / 13 % owners.count
      switch step % 17 {
      case 0:
        let count = center.removeObservers(of: .login, owner: owners[index])
        #expect(count == registered[index].count)
        registered[index] = []
      case 1:
        #expect(center.remove(owners[index]) == registered[index].count)
        registered[index] = []
      case 2, 3, 4:
        guard let handler = registered[index].randomElement() else { continue }
        handler.token.cancel()
        registered[index].removeAll { $0.number == handler.number }
      default:
        let id = step % 3 == 0 ? nil : step % 5
        let token = center.observe(.login, owner: owners[index], id: id) { _, _ in called.add(step)
        }
        registered[index].removeAll { id != nil && $0.id == id }
        registered[index].append((step, id, token))
      }
      if step % 500 != 499 { continue }
      center.post(.login, Login(id: step))
      #expect(called.take().sorted() == registered.joined().map(\.number).sorted())
    }
  }

  /// Counts the boxes that a search looks at.
  @Test func aSearchMeetsTheBoxesOfOneOwner() {
    final class CountingBox: WeakBox, @unchecked Sendable {
      static let looks = Atomic<Int>(0)
      override var key: UInt {
        Self.looks.wrappingAdd(1, ordering: .relaxed)
        return identity
      }
    }
    var index = BoxIndex(byClient: false)
    var boxes = Boxes()
    let owners = (0..<1_000).map { _ in Owner() }
    for handlers in [1, 1, 500, 1] {
      for owner in handlers == 1 ? owners[...] : owners[..<1] {
        for _ in 0..<handlers {
          boxes.append(CountingBox(owner, at: nil))
          index.insertLast(of: boxes)
        }
      }
    }
    #expect(CountingBox.looks.load(ordering: .relaxed) < 20 * boxes.count)
    for (place, owner) in owners.enumerated() {
      CountingBox.looks.store(0, ordering: .relaxed)
      let found = index.all(ObjectIdentifier(owner).address, in: boxes)
      #expect(found.count == (place == 0 ? 503 : 3))
      for box in found {
        index.skip(box, in: boxes)
        _ = box.empty()
      }
      #expect(index.all(ObjectIdentifier(owner).address, in: boxes).isEmpty)
      #expect(CountingBox.looks.load(ordering: .relaxed) < 50 * found.count)
    }
  }

  /// A removal of an object visits the topics that it observes. In each one visited, it finds handlers of deallocated owners.
  @Test func aRemovalVisitsItsOwnTopicsOnly() {
    let topics = (0..<100).map { Topic<Int>("topic \($0)") }
    let ends = Atomic<Int>(0)
    let closing = Owner()
    for topic in topics {
      let passing = Owner()
      let sentinel = Sentinel { ends.wrappingAdd(1, ordering: .relaxed) }
      center.observe(topic, owner: passing) { _, _ in extendLifetime(sentinel) }
      center.observe(topic, owner: self.owner, id: "keeps") { _, _ in }
      extendLifetime(passing)
    }
    for topic in [topics[0], topics[7], topics[70]] {
      center.observe(topic, owner: closing) { _, _ in }
      center.observe(topic, owner: closing) { _, _ in }
    }
    let before = ends.load(ordering: .relaxed)
    #expect(center.remove(closing) == 6)
    #expect(center.remove(closing) == 0)
    #expect(ends.load(ordering: .relaxed) - before <= 3)
    center.observe(topics[8], owner: closing) { _, _ in }
    #expect(center.remove(closing) == 1)
    #expect(center.remove(owner) == 100)
  }

  @Test func aHandlerRemovesItsOwnerFromATopicThatItBeginsToObserve() {
    center.observe(Topic<Int>("first"), owner: owner) { _, _ in }
    let topic = Topic<Int>("late", keepsLatest: true)
    center.post(topic, 1)
    let calls = Numbers()
    center.observe(topic, owner: owner) { [center] owner, number in
      calls.add(number)
      center.remove(owner)
    }
    center.post(topic, 2)
    #expect(calls.all == [1])
  }

  /// However many objects and topics come and go, what a center knows of them is bounded by those in use.
  @Test func whoObservedIsForgotten() {
    center.observe(Topic<Int>("first"), owner: owner) { _, _ in }
    let lasting = Topic<Int>("lasting")
    center.observe(lasting, owner: owner) { _, _ in }
    let registry = TopicRegistry(first: TopicList(lasting, office: center.office, site: CallSite()))
    for number in 0..<2_000 {
      let passing = Owner()
      for topic in [Topic<Int>("other"), Topic<Int>("other \(number)")] {
        _ = registry.anchor(of: topic, for: passing, from: CallSite())
          .observe(
            passing, nil,
            TopicHandler(.called { _, _ in }, once: false, newestOnly: false, at: CallSite()),
            at: nil)
      }
    }
    #expect(registry.observedCount <= 64)
    #expect(registry.topics.count <= 64)
  }
}
