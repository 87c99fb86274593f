import TestSupport
import CoreModel
import Multicast
import Testing

/// An owner with a reference to its center, which calls a closure in its `deinit`.
private final class Model: Sendable {
  let center: MulticastCenter
  let journal: Journal
  private let atEnd: @Sendable (Model) -> Void

  init(
    _ center: MulticastCenter, _ journal: Journal, atEnd: @escaping @Sendable (Model) -> Void
  ) {
    self.center = center
    self.journal = journal
    self.atEnd = atEnd
  }

  deinit { atEnd(self) }
}

/// An owner that is its own id.
private final class Identified: Hashable, Sendable {
  static func == (one: Identified, other: Identified) -> Bool { one === other }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

@Suite struct ObservationTests {
  let end = Journal()
  let other = kept(Owner())
  let center = MulticastCenter()
  let journal = Journal()
  let owner = kept(Owner())

  @discardableResult
  func post(_ id: Int = 1) -> Int { center.post(.login, Login(id: id)).clients }

  // MARK: - Order, replacement, ids

  /// How a registration ends.
  enum Ending: CaseIterable { case cancel, remove, removeAll, once, center }

  @Test(arguments: Ending.allCases) func anIDIsReleasedWithItsRegistration(ending: Ending) {
    var center: MulticastCenter? = MulticastCenter()
    var owner: Identified? = Identified()
    weak var identified: Identified?
    identified = owner
    let observation = owner.flatMap { owner in
      center?.observe(.login, owner: owner, id: owner, once: ending == .once) { _, _ in }
    }
    owner = nil
    #expect(identified != nil)
    switch ending {
    case .cancel: observation?.cancel()
    case .remove: identified.map { _ = center?.remove($0) }
    case .removeAll: center?.removeHandlers(of: .login)
    case .once: center?.post(.login, Login(id: 1))
    case .center: center = nil
    }
    #expect(identified == nil)
    extendLifetime(observation)
  }

  @Test func handlersAreCalledInOrderAndReceiveTheirOwners() {
    let owners = kept(["a", "b", "c"].map { Owner($0) })
    for owner in owners {
      center.observe(.login, owner: owner) { owner, login in
        journal.write("\(owner.name)\(login.id)")
      }
    }
    #expect(post(7) == 3)
    #expect(journal.read() == "a7 b7 c7")
  }

  @Test func observingAgainWithAnIDReplacesTheHandlerInItsPosition() {
    let first = center.observe(.login, owner: owner, id: 1) { _, _ in journal.write("first") }
    center.observe(.login, owner: other) { _, _ in journal.write("other") }
    let second = center.observe(.login, owner: owner, id: 1) { _, _ in journal.write("second") }
    #expect(post() == 2)
    #expect(journal.read() == "second other")
    #expect(!first.isActive)
    #expect(second.isActive)
    // The first handler has been replaced. Cancelling it does not affect the second one.
    first.cancel()
    #expect(post() == 2)
  }

  @Test func aTopicOfVoidIsPostedWithoutAMessage() {
    center.observe(Topic<Void>("logout"), owner: owner) { _, _ in journal.write("logout") }
    #expect(center.post(Topic("logout")).clients == 1)
    #expect(journal.read() == "logout")
  }

  @Test func tokensAreDistinctAndCanBeStoredInASet() {
    var tokens: Set<TopicObservation> = []
    for _ in 0..<2 {
      let token = center.observe(.login, owner: owner, id: 1) { _, _ in }
      tokens.formUnion([token, token])
    }
    #expect(tokens.count == 2)
    #expect(tokens.map(\.isActive).sorted { $1 && !$0 } == [false, true])
    for token in tokens { token.cancel() }
    #expect(post() == 0)
  }

  @Test func observingAgainWithoutAnIDAddsAHandler() {
    for name in ["a", "b", "c"] {
      center.observe(.login, owner: owner) { _, _ in journal.write(name) }
    }
    #expect(post() == 3)
    #expect(journal.read() == "a b c")
  }

  @Test func idsAreComparedByValueAndType() {
    func observe(_ name: String, id: (any Hashable & Sendable)?) {
      center.observe(.login, owner: owner, id: id) { _, _ in journal.write(name) }
    }
    observe("none", id: nil)
    observe("text", id: "1")
    observe("number", id: 1)
    observe("array", id: [1])
    observe("text again", id: "1")
    observe("optional", id: Optional(1))
    #expect(post() == 4)
    #expect(journal.read() == "none text again optional array")
  }

  @Test func anOwnerAtTheAddressOfADeallocatedOneGetsItsOwnHandler() {
    // So many handlers that the topic does not search for deallocated owners.
    let others = kept((0..<100).map { _ in Owner() })
    for other in others { center.observe(.login, owner: other) { _, _ in } }
    let numbers = Numbers()
    var reused = 0
    var last: ObjectIdentifier?
    for round in 0..<1000 {
      let owner = Owner()
      if ObjectIdentifier(owner) == last { reused += 1 }
      last = ObjectIdentifier(owner)
      center.observe(.login, owner: owner, id: 1) { _, _ in numbers.add(round) }
      if round % 100 == 0 { _ = post() }
      if round % 100 == 0 { #expect(numbers.all.last == round) }
    }
    // The address sanitizer delays the reuse of memory.
    #expect(reused > 0 || Process.isSanitized)
  }

  @Test func manyOwnersCanHaveManyHandlersEach() {
    let owners = kept((0..<50).map { _ in Owner() })
    for id in 0..<20 {
      for owner in owners { center.observe(.login, owner: owner, id: id) { _, _ in } }
    }
    for owner in owners { center.observe(.login, owner: owner, id: 3) { _, _ in } }
    #expect(post() == 1000)
    #expect(center.removeHandlers(of: .login, owner: owners[7]) == 20)
    #expect(post() == 980)
  }

  // MARK: - Removal and release

  @Test(arguments: ["post", "observe", "remove", "removeAll"])
  func theNextOperationReleasesTheHandlerOfADeallocatedOwner(operation: String) {
    do {
      let owner = Owner()
      let sentinel = Sentinel(end)
      center.observe(.login, owner: owner) { _, _ in
        extendLifetime(sentinel)
        journal.write("heard")
      }
      #expect(post() == 1)
      extendLifetime(owner)
    }
    switch operation {
    case "post": #expect(post() == 0)
    case "observe": center.observe(.login, owner: owner) { _, _ in }
    case "remove": center.removeHandlers(of: .login, owner: owner)
    default: center.removeHandlers(of: .login)
    }
    #expect(journal.read() == "heard")
    #expect(end.read() == "end")
  }

  @Test func aHandlerCanUseItsOwnerWithoutARetainCycle() {
    do {
      let model = Model(center, journal) { model in model.journal.write("end") }
      center.observe(.login, owner: model) { model, login in model.journal.write("\(login.id)") }
      post(3)
      extendLifetime(model)
    }
    #expect(journal.read() == "3 end")
  }

  @Test func cancelRemovesAndReleasesTheHandler() {
    let observation: TopicObservation
    do {
      let sentinel = Sentinel(end)
      observation = center.observe(.login, owner: owner) { _, _ in extendLifetime(sentinel) }
    }
    #expect(observation.isActive)
    observation.cancel()
    #expect(!observation.isActive)
    #expect(end.read() == "end")
    #expect(post() == 0)
    observation.cancel()
  }

  @Test func aTokenRetainsNeitherOwnerNorHandlerNorCenter() {
    var center = Optional(MulticastCenter())
    weak var reference: MulticastCenter?
    reference = center
    let lasting = center!.observe(.login, owner: owner) { _, _ in }
    let observation: TopicObservation
    do {
      let sentinel = Sentinel(end)
      let passing = Owner()
      observation = center!.observe(.login, owner: passing) { _, _ in extendLifetime(sentinel) }
      #expect(observation.isActive)
      extendLifetime(passing)
    }
    #expect(!observation.isActive)
    #expect(lasting.isActive)
    center = nil
    #expect(reference == nil)
    #expect(!lasting.isActive)
    #expect(end.read() == "end")
    observation.cancel()
  }

  @Test func aHandlerCanCancelItself() {
    let token = Locked<TopicObservation?>(nil)
    let observation = center.observe(.login, owner: owner) { _, _ in
      journal.write("heard")
      token.withLock { $0 }?.cancel()
    }
    token.withLock { $0 = observation }
    #expect(post() == 1)
    #expect(post() == 0)
    #expect(journal.read() == "heard")
  }

  enum Change: CaseIterable, Sendable { case replace, cancel, remove }

  /// With `passing`, so many other handlers come and go that the topic replaces its storage. The post walks over the
  /// old storage, and must see there that a handler is replaced or removed.
  @Test(arguments: Change.allCases, [0, 1000])
  func aHandlerCanReplaceOrRemoveALaterHandlerBeforeItsTurn(change: Change, passing: Int) {
    center.observe(.login, owner: owner) { _, _ in
      for _ in 0..<passing {
        center.observe(.login, owner: Owner()) { _, _ in journal.write("late") }
      }
      let sentinel = Sentinel(end)
      let observation = center.observe(.login, owner: other, id: 1) { _, _ in
        journal.write("new")
        extendLifetime(sentinel)
      }
      switch change {
      case .replace: break
      case .cancel: observation.cancel()
      case .remove: center.removeHandlers(of: .login, owner: other)
      }
    }
    center.observe(.login, owner: other, id: 1) { _, _ in journal.write("old") }
    #expect(post() == (change == .replace ? 2 : 1))
    #expect(journal.read() == (change == .replace ? "new" : ""))
    #expect(end.read() == (change == .replace ? "" : "end"))
  }

  @Test func aHandlerAddedDuringAPostWaitsForTheNextOne() {
    let late = kept(Owner())
    center.observe(.login, owner: owner) { _, _ in
      center.observe(.login, owner: late) { _, _ in journal.write("late") }
    }
    #expect(post() == 1)
    #expect(post() == 2)
    #expect(journal.read() == "late")
  }

  @Test func handlersAreRemovedByOwnerByTopicByObjectAndByRemoveAll() {
    let client = kept(Client("client", journal))
    let observation = center.observe(.login, owner: owner) { _, _ in journal.write("one") }
    center.observe(.login, owner: owner, id: "two") { _, _ in journal.write("two") }
    center.observe(.login, owner: other) { _, _ in journal.write("other") }
    center.observe(Topic<Int>(), owner: owner) { _, _ in journal.write("number") }
    center.add(client, for: PingProtocol.self)

    #expect(center.removeHandlers(of: .login, owner: owner) == 2)
    #expect(!observation.isActive)
    #expect(center.removeHandlers(of: .login, owner: owner) == 0)
    #expect(post() == 1)
    center.removeHandlers(of: .login)
    #expect(post() == 0)
    #expect(center.post(Topic<Int>(), 1).clients == 1)
    #expect(center.remove(owner) == 1)
    #expect(center.post(Topic<Int>(), 1).clients == 0)
    center.observe(.login, owner: owner) { _, _ in journal.write("again") }
    center.removeAll()
    #expect(post() == 0)
    #expect(!center.contains(client, for: PingProtocol.self))
    #expect(journal.read() == "other number")
  }

  @Test func removingAnObjectRemovesItFromProtocolsAndTopics() {
    let both = kept(Counter())
    center.add(both, for: PingProtocol.self)
    center.observe(.login, owner: both) { _, _ in }
    center.observe(.login, owner: both, id: 2) { _, _ in }
    center.observe(Topic<Int>("x"), owner: both) { _, _ in }
    #expect(center.remove(both) == 4)
    #expect(post() == 0)
  }

  @Test func anOwnerInItsDeinitRegistersNothing() {
    _ = Model(center, journal) { model in
      let observation = model.center.observe(.login, owner: model) { _, _ in }
      model.journal.write("\(observation.isActive) \(model.center.remove(model))")
    }
    #expect(journal.read() == "false 0")
    #expect(post() == 0)
  }

  /// A weak reference to an owner is nil in its `deinit`, and the home of its handler may not run then.
  @Test(arguments: [true, false]) func anOwnerInItsDeinitReleasesItsHandlers(ofAllTopics: Bool) {
    let testHome = TestHome()
    testHome.queue.suspend()
    defer { testHome.queue.resume() }
    weak var captured: Owner?
    do {
      let model = Model(center, journal) { model in
        let removed =
          ofAllTopics
          ? model.center.remove(model) : model.center.removeHandlers(of: .login, owner: model)
        #expect(removed == 0)
      }
      let owner = Owner()
      captured = owner
      center.observe(.login, owner: model, on: testHome.queue) { _, _ in extendLifetime(owner) }
    }
    #expect(captured == nil)
  }

  @Test func anObjectAtTheAddressOfADeallocatedOwnerIsANewOwner() {
    for number in 0..<2000 {
      let owner = Owner()
      let observation = center.observe(.login, owner: owner) { _, _ in }
      #expect(observation.isActive)
      if number % 100 == 0 { #expect(post() == 1) }
      extendLifetime(owner)
    }
    #expect(post() == 0)
  }

  @Test func handlersOfADeallocatedOwnerAreNotCountedForAnObjectAtItsAddress() {
    // So many handlers that the topic does not search for deallocated owners at each operation.
    let others = kept((0..<100).map { _ in Owner() })
    for owner in others { center.observe(.login, owner: owner) { _, _ in } }
    for _ in 0..<100 {
      do {
        let deallocated = Owner()
        center.observe(.login, owner: deallocated) { _, _ in }
        extendLifetime(deallocated)
      }
      let owner = Owner()
      #expect(center.removeHandlers(of: .login, owner: owner) == 0)
      extendLifetime(owner)
    }
    #expect(center.removeHandlers(of: .login, owner: others[50]) == 1)
  }

  /// So many that `removeHandlers` with an owner would not search for deallocated ones.
  @Test func handlersOfDeallocatedOwnersAreNotCountedAsRemoved() {
    do {
      let owners = (0..<100).map { _ in Owner() }
      for owner in owners { center.observe(.login, owner: owner) { _, _ in } }
    }
    let owner = kept(Owner())
    center.observe(.login, owner: owner) { _, _ in }
    #expect(center.removeHandlers(of: .login) == 1)
  }

  @Test func anOwnerCanBeDeallocatedWhileItsHandlerIsCancelled() {
    for _ in 0..<Process.rounds(2000, quick: 200) {
      let owner = Locked<Model?>(
        Model(center, journal) { $0.center.removeHandlers(of: .login, owner: $0) })
      guard let first = owner.withLock({ $0 }) else { return }
      let observation = center.observe(.login, owner: consume first) { _, _ in }
      onThreads(2) { thread in
        if thread == 0 {
          observation.cancel()
        } else {
          // Release the owner after the lock, because its `deinit` uses the center.
          let last = owner.withLock { owner in
            let last: Model? = owner
            owner = nil
            return last
          }
          extendLifetime(last)
        }
      }
    }
    #expect(post() == 0)
  }

  // MARK: - Threads

  @Test func eightThreadsCanUseATopicConcurrently() {
    let lasting = Counter()
    center.observe(.login, owner: owner) { _, login in lasting.ping(login.id) }
    let posts = Atomic<Int>(0)
    let rounds = Process.rounds(2000, quick: 200)
    onThreads(8) { thread in
      var generator = SeededGenerator(seed: UInt64(thread))
      var owners = [Owner()]
      var observations: [TopicObservation] = []
      for round in 0..<rounds {
        let owner = owners.randomElement(using: &generator) ?? Owner()
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: owners.append(Owner())
        case 1: if owners.count > 1 { owners.removeFirst() }
        case 2: center.removeHandlers(of: .login, owner: owner)
        case 3: observations.popLast()?.cancel()
        case 4, 5:
          observations.append(
            center.observe(.login, owner: owner, id: round % 3) { owner, _ in
              extendLifetime(owner)
            })
        case 6: center.remove(owner)
        default:
          #expect(center.post(.login, Login(id: round)).clients >= 1)
          posts.wrappingAdd(1, ordering: .relaxed)
        }
      }
    }
    #expect(lasting.calls == posts.load(ordering: .relaxed))
    #expect(center.post(.login, Login(id: 1)).clients == 1)
  }
}
