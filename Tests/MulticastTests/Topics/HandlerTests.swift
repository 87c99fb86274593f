import CoreModel
import Dispatch
import Multicast
import TestSupport
import Testing

/// Handlers with `once: true`, which receive one message.
@Suite struct OnceTests {
  let end = Journal()
  let other = kept(Owner())
  let center = MulticastCenter()
  let journal = Journal()
  let owner = kept(Owner())

  @discardableResult
  func post(_ id: Int = 1) -> Int { center.post(.login, Login(id: id)).clients }

  @Test func aOnceHandlerIsRemovedAfterItsFirstMessage() {
    let observation: TopicObservation
    do {
      let sentinel = Sentinel(end)
      observation = center.observe(.login, owner: owner, once: true) { _, login in
        journal.write("\(login.id)")
        extendLifetime(sentinel)
      }
    }
    #expect(post(1) == 1)
    #expect(!observation.isActive)
    #expect(post(2) == 0)
    #expect(journal.read() == "1")
    #expect(end.read() == "end")
  }

  @Test func aOnceHandlerCanObserveAgain() {
    @Sendable func wait() {
      center.observe(.login, owner: owner, once: true) { _, login in
        journal.write("\(login.id)")
        wait()
      }
    }
    wait()
    for id in 1...3 { #expect(post(id) == 1) }
    #expect(journal.read() == "1 2 3")
  }

  @Test func aOnceHandlerIsCalledOnceByConcurrentPosts() {
    let counter = Counter()
    for round in 0..<200 {
      center.observe(.login, owner: owner, once: true) { _, _ in counter.ping(1) }
      let taken = Atomic<Int>(0)
      onThreads(8) { _ in
        taken.wrappingAdd(center.post(.login, Login(id: 1)).clients, ordering: .relaxed)
      }
      #expect(taken.load(ordering: .relaxed) == 1)
      #expect(counter.calls == round + 1)
    }
  }

  @Test func aHandlerIsReleasedAlthoughItsOwnersAddressIsReusedDuringAPost() {
    // So many handlers that the topic does not search for deallocated owners at each operation.
    let others = kept((0..<40).map { _ in Owner() })
    for owner in others { center.observe(.login, owner: owner) { _, _ in } }
    center.observe(.login, owner: owner, once: true) { _, _ in
      for _ in 0..<100 {
        do {
          let sentinel = Sentinel(end)
          let deallocated = Owner()
          center.observe(.login, owner: deallocated) { _, _ in extendLifetime(sentinel) }
          extendLifetime(deallocated)
        }
        let next = Owner()
        center.observe(.login, owner: next) { _, _ in }
        extendLifetime(next)
      }
    }
    post()
    post()
    #expect(end.read().split(separator: " ").count == 100)
  }

  @Test func aOnceHandlerIsReleasedAlthoughItsMessageArrivesDuringObserve() {
    let rounds = Process.rounds(2000, quick: 200)
    onThreads(2) { thread in
      for _ in 0..<rounds {
        if thread == 0 {
          center.post(.login, Login(id: 1))
        } else {
          let sentinel = Sentinel(end)
          center.observe(.login, owner: owner, id: 1, once: true) { _, _ in
            extendLifetime(sentinel)
          }
        }
      }
    }
    center.post(.login, Login(id: 1))
    #expect(end.read().split(separator: " ").count == rounds)
  }

  @Test(arguments: [false, true]) func aPostDuringTheCallOfAOnceHandlerDoesNotCountIt(awaits: Bool)
    async
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
}

/// Handlers with `newestOnly: true`, a part of rule 17 of the contract.
@Suite struct NewestOnlyTests {
  let center = MulticastCenter()
  let owner = kept(Owner())
  let numbers = Numbers()
  let topic = Topic<Int>("progress", keepsLatest: true)

  @Test func messagesOutdatedBeforeTheirHomeHandlesThemAreSkipped() {
    let queue = DispatchQueue(label: "slow")
    center.observe(topic, owner: owner, newestOnly: true, on: queue) { [numbers] _, number in
      numbers.add(number)
    }
    queue.suspend()
    for number in 1...5 { center.post(topic, number) }
    queue.resume()
    queue.sync {}
    #expect(numbers.all == [5])
    // A home that is not busy handles each message.
    for number in 6...8 {
      center.post(topic, number)
      queue.sync {}
    }
    #expect(numbers.all == [5, 6, 7, 8])
  }

  @Test func handlersWithoutNewestOnlyReceiveAllMessages() {
    let queue = DispatchQueue(label: "slow")
    center.observe(topic, owner: owner, newestOnly: true, on: queue) { _, _ in }
    center.observe(topic, owner: owner, on: queue) { [numbers] _, number in numbers.add(number) }
    queue.suspend()
    for number in 1...5 { center.post(topic, number) }
    queue.resume()
    queue.sync {}
    #expect(numbers.all == [1, 2, 3, 4, 5])
  }

  @Test func anAwaitingHandlerSkipsMessagesOutdatedDuringItsCall() async {
    let (entered, leave) = (Signal(), Signal())
    center.observe(topic, owner: owner, newestOnly: true) { @Sendable [numbers] _, number async in
      numbers.add(number)
      if number == 1 {
        entered.send()
        await leave.wait()
      }
    }
    center.post(topic, 1)
    await entered.wait()
    for number in 2...5 { center.post(topic, number) }
    leave.send()
    await center.settled()
    #expect(numbers.all == [1, 5])
  }

  /// The message was never stored, and neither was a newer one that outdates it.
  @Test func aMessageWithdrawnBeforeItIsStoredIsDelivered() {
    center.observe(topic, owner: owner, newestOnly: true) { [numbers] _, number in
      numbers.add(number)
    }
    center.post(topic, 1)
    let start = Topic<Int>("start")
    center.observe(start, owner: owner) { [center, topic] _, _ in
      center.post(topic, 2)
      center.removeLatest(of: topic)
    }
    center.post(start, 0)
    #expect(numbers.all == [1, 2])
  }

  /// The newest letter calls the handler, even if its message is no longer stored.
  @Test func theNewestMessageIsDeliveredAlthoughItIsNoLongerStored() {
    let queue = DispatchQueue(label: "slow")
    center.observe(topic, owner: owner, newestOnly: true, on: queue) { [numbers] _, number in
      numbers.add(number)
    }
    queue.suspend()
    for number in 1...3 { center.post(topic, number) }
    center.removeLatest(of: topic)
    queue.resume()
    queue.sync {}
    #expect(numbers.all == [3])
  }

  @Test func aOnceHandlerReceivesTheNewestMessage() {
    let queue = DispatchQueue(label: "slow")
    center.observe(topic, owner: owner, once: true, newestOnly: true, on: queue) {
      [numbers] _, number in numbers.add(number)
    }
    queue.suspend()
    for number in 1...3 { center.post(topic, number) }
    queue.resume()
    queue.sync {}
    center.post(topic, 4)
    queue.sync {}
    #expect(numbers.all == [3])
  }

  @Test func aReplacementDoesNotInheritNewestOnly() {
    let queue = DispatchQueue(label: "slow")
    for newestOnly in [true, false] {
      center.observe(topic, owner: owner, id: 1, newestOnly: newestOnly, on: queue) {
        [numbers] _, number in numbers.add(number)
      }
    }
    queue.suspend()
    for number in 1...3 { center.post(topic, number) }
    queue.resume()
    queue.sync {}
    #expect(numbers.all == [1, 2, 3])
  }

  @Test func theLastMessageIsNeverSkippedAndMessagesKeepTheirOrder() async {
    let queues = (0..<2).map { DispatchQueue(label: "slow \($0)") }
    let homes = (0..<4).map { _ in Collected<Int>() }
    for (index, home) in homes.enumerated() {
      if index < 2 {
        center.observe(topic, owner: owner, newestOnly: true, on: queues[index]) { _, number in
          home.add(number)
        }
      } else if index == 2 {
        center.observe(topic, owner: owner, newestOnly: true) { _, number in home.add(number) }
      } else {
        center.observe(topic, owner: owner, newestOnly: true) { @Sendable _, number async in
          home.add(number)
        }
      }
    }
    let all = Collected<Int>()
    center.observe(topic, owner: owner) { _, number in all.add(number) }
    onThreads(4) { [center, topic] thread in
      for number in 0..<300 { center.post(topic, thread * 1000 + number) }
    }
    await center.settled()
    let positions = Dictionary(uniqueKeysWithValues: zip(all.all, 0...))
    for home in homes {
      #expect(home.all.last == center.latest(of: topic))
      let order = home.all.compactMap { positions[$0] }
      #expect(order == order.sorted() && order.count == Set(order).count)
    }
  }
}

extension Topic where Message == Int {
  fileprivate static var number: Self { Topic("method") }
  fileprivate static var state: Self { Topic("method's state", keepsLatest: true) }
}

@MainActor private final class Label {
  var shown: [Int] = []

  init(_ center: MulticastCenter) {
    center.observe(.number, owner: self, Label.show)
    center.observe(.state, owner: self, Label.show)
  }

  func show(_ number: Int) { shown.append(number) }
}

private class Base: @unchecked Sendable {
  let numbers = Numbers()
  func take(_ number: Int) { numbers.add(number) }
}

private final class Derived: Base, @unchecked Sendable {
  override func take(_ number: Int) { numbers.add(-number) }
}

/// Handlers that are methods of their owners.
@Suite struct MethodHandlerTests {
  let center = MulticastCenter()

  @Test func aMethodOfTheMainActorIsCalledOnTheMainActor() async {
    let label = await Label(center)
    await center.post(.number, 1).delivered()
    await center.post(.state, 2).delivered()
    await #expect(label.shown == [1, 2])
    #expect(center.wiring.topics.flatMap(\.listeners).map(\.home) == ["MainActor", "MainActor"])
  }

  @Test func aMethodHandlerDoesNotRetainItsOwner() async {
    weak var weakLabel: Label?
    do {
      let label = await Label(center)
      await center.post(.number, 1).delivered()
      weakLabel = label
    }
    await center.settled()
    #expect(weakLabel == nil)
  }

  @Test func theOverrideOfAMethodIsCalled() {
    let derived = Derived()
    center.observe(.number, owner: derived, Base.take)
    center.post(.number, 1)
    #expect(derived.numbers.all == [-1])
  }

  @Test func aMethodOfNoActorIsCalledOnThePostingThread() {
    let base = Base()
    center.observe(.number, owner: base, Base.take)
    center.observe(.state, owner: base, Base.take)
    center.post(.number, 1)
    center.post(.state, 2)
    #expect(base.numbers.all == [1, 2])
    #expect(
      center.wiring.topics.flatMap(\.listeners).map(\.home) == ["posting thread", "posting thread"])
  }

  @Test func aMethodReplacesAClosureWithTheSameID() {
    let base = Base()
    center.observe(.number, owner: base, id: 1) { base, number in base.numbers.add(number + 100) }
    center.observe(.number, owner: base, id: 1, Base.take)
    #expect(center.post(.number, 1).clients == 1)
    center.observe(.number, owner: base, id: 1) { base, number in base.numbers.add(number + 100) }
    #expect(center.post(.number, 2).clients == 1)
    center.observe(.number, owner: base, id: 1, once: true, Base.take)
    for number in 3...4 { center.post(.number, number) }
    #expect(base.numbers.all == [1, 102, 3])
  }
}
