import Dispatch
import TestSupport
import Testing

@testable import Multicast

/// How a center finds the handlers of one owner among many. Each test counts what it examines, or compares it with a model.
@Suite struct OwnerLookupTests {
  let owner = kept(Owner())
  let center = MulticastCenter()

  /// The number of comparisons for a new handler does not grow with the number of the owner's handlers.
  @Test func addingAHandlerComparesItsIDWithFewOthers() {
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

  /// Owners with several handlers in a long list, with and without ids, compared with a model.
  @Test func removalsOfManyOwnersMatchAModel() {
    let (called, owners) = (Numbers(), (0..<200).map { _ in kept(Owner()) })
    var registered = [[(number: Int, id: Int?, token: TopicObservation)]](repeating: [], count: 200)
    for step in 0..<8_000 {
      let index = step &* 7_919 / 13 % owners.count
      switch step % 17 {
      case 0:
        let count = center.removeHandlers(of: .login, owner: owners[index])
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

  /// Counts the boxes that a search for an owner looks at.
  @Test func aSearchForAnOwnerLooksAtItsBoxesOnly() {
    final class CountingBox: WeakBox, @unchecked Sendable {
      static let looks = Atomic<Int>(0)
      override var idHash: UInt {
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
    for (number, owner) in owners.enumerated() {
      CountingBox.looks.store(0, ordering: .relaxed)
      let found = index.all(ObjectIdentifier(owner).address, in: boxes)
      #expect(found.count == (number == 0 ? 503 : 3))
      for box in found {
        index.unlink(box, in: boxes)
        _ = box.empty()
      }
      #expect(index.all(ObjectIdentifier(owner).address, in: boxes).isEmpty)
      #expect(CountingBox.looks.load(ordering: .relaxed) < 50 * found.count)
    }
  }

  /// Counts the boxes that a search for an id looks at, beside many boxes without one.
  @Test(arguments: [0, 1]) func aSearchForAnIDDoesNotLookAtHandlersWithoutAnID(withKeys: Int) {
    final class CountingBox: WeakBox, @unchecked Sendable {
      static let looks = Locked<[UInt: Int]>([:])
      private let own: UInt
      private let test: UInt
      init(_ owner: Owner, key: UInt, test: UInt) {
        (own, self.test) = (key, test)
        super.init(owner, at: nil)
      }
      override var idHash: UInt {
        Self.looks.withLock { $0[test, default: 0] += 1 }
        return own
      }
    }
    let list = ClientList(.listener(AnyObject.self))
    let test = UInt(withKeys)
    for number in 0..<1_000 {
      let box = CountingBox(owner, key: number < withKeys ? 7 : 0, test: test)
      while list.register(box, among: nil, replacing: nil) == .full { _ = list.makeRoom() }
    }
    let before = CountingBox.looks.withLock { $0[test]! }
    #expect(list.boxes(withID: 7).count == withKeys)
    #expect(CountingBox.looks.withLock { $0[test]! } - before < 10)
  }

  /// Removing an owner visits the topics that it observes. A visit also frees the handlers of deallocated owners there.
  @Test func removingAnOwnerVisitsItsTopicsOnly() {
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

  @Test func aHandlerCanRemoveItsOwnerWhileObserveCallsIt() {
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

  /// A center stores a bounded number of owners and topics, however many come and go.
  @Test func aCenterForgetsOwnersAndTopicsThatAreNoLongerInUse() {
    center.observe(Topic<Int>("first"), owner: owner) { _, _ in }
    let lasting = Topic<Int>("lasting")
    center.observe(lasting, owner: owner) { _, _ in }
    let registry = TopicRegistry(first: TopicList(lasting, office: center.office, site: CallSite()))
    for number in 0..<2_000 {
      let passing = Owner()
      for topic in [Topic<Int>("other"), Topic<Int>("other \(number)")] {
        _ = registry.findOrMakeEntry(of: topic, for: passing, from: CallSite())
          .observe(
            passing, nil,
            Handler(.called { _, _ in }, once: false, newestOnly: false, at: CallSite()),
            at: nil)
      }
    }
    #expect(registry.observedNames <= 64)
    #expect(registry.topicLists.count <= 64)
  }

  /// The topics stay in use, and so do the owners, but the owners observe them no longer.
  @Test func aCenterForgetsWhichTopicsAnOwnerHasObserved() {
    let lasting = Topic<Int>("lasting")
    let registry = TopicRegistry(first: TopicList(lasting, office: center.office, site: CallSite()))
    func observe(_ name: Int, _ owner: Owner) -> TopicObservation {
      let topic = Topic<Int>("topic \(name)")
      return registry.findOrMakeEntry(of: topic, for: owner, from: CallSite()).observe(
        owner, nil,
        Handler(.called { _, _ in }, once: false, newestOnly: false, at: CallSite()), at: nil)
    }
    let keeper = Owner()
    for name in 0..<100 { _ = observe(name, keeper) }
    let passing = (0..<50).map { _ in Owner() }
    for owner in passing { for name in 0..<100 { observe(name, owner).cancel() } }
    #expect(registry.observedNames <= 400)
    extendLifetime((keeper, passing))
  }

  /// Only the home of its handlers can find out that their owners have been deallocated, so it is searched there.
  @Test func aTopicOfManyDeallocatedOwnersInAnotherHomeIsForgotten() async {
    let queue = DispatchQueue(label: "home")
    center.observe(Topic<Int>("first"), owner: owner) { _, _ in }
    var passing = (0..<40).map { _ in Owner() }
    for owner in passing {
      center.observe(Topic<Int>("crowded"), owner: owner, on: queue) { _, _ in }
    }
    await waitForSearches(in: queue)
    passing = []
    // Topics are searched when their number, or that of the owners, has doubled.
    for number in 0..<100 {
      center.observe(Topic<Int>("early \(number)"), owner: owner) { _, _ in }
    }
    await waitForSearches(in: queue)
    for number in 0..<300 {
      center.observe(Topic<Int>("late \(number)"), owner: owner) { _, _ in }
    }
    #expect(!topics.contains { $0.name == "crowded" })
  }

  /// Such a search takes as long as the topic has handlers. The first topic stays in any case, and another one is searched again
  /// only after as many registrations. The home is blocked, so that a search waits there.
  @Test(arguments: ["first", "crowded"])
  func newTopicsDoNotSearchACrowdedTopicAgainAndAgain(_ name: String) throws {
    let testHome = TestHome()
    testHome.queue.suspend()
    defer { testHome.queue.resume() }
    if name != "first" { center.observe(Topic<Int>("first"), owner: owner) { _, _ in } }
    for id in 0..<1_000 {
      center.observe(Topic<Int>(name), owner: owner, id: id, on: testHome.queue) { _, _ in }
    }
    func observe(_ numbers: Range<Int>) {
      for number in numbers { center.observe(Topic<Int>("\(number)"), owner: owner) { _, _ in } }
    }
    observe(0..<40)
    let crowded = try #require(topics.first { $0.name == name })
    for group in crowded.roster.groups { _ = crowded.takeWaitingSearch(in: group.home) }
    observe(40..<400)
    #expect(!crowded.hasWaitingSearch)
  }

  /// A search that has begun is over when something else has run in its home.
  private func waitForSearches(in queue: DispatchQueue) async {
    while topics.contains(where: \.hasWaitingSearch) { await Task.yield() }
    queue.sync {}
  }

  private var topics: [TopicList] {
    center.registries.all.flatMap(\.lists).compactMap { $0 as? TopicList }
  }
}
