import Dispatch
import Multicast
import MulticastTesting
import TestSupport
import Testing

/// Rules 13 to 17 of the contract, in many explored orders.
@Suite struct RuleTests {
  private static let runs = 60

  // MARK: - 13: home

  @Test func eachHandlerIsCalledInItsHome() async throws {
    try await Interleavings.explore(runs: Self.runs) { center in
      let key = DispatchSpecificKey<Bool>()
      let queue = DispatchQueue(label: "home")
      queue.setSpecific(key: key, value: true)
      let (owner, resident) = (Resident(), Resident())
      let count = Numbers()
      center.observe(.login, owner: owner, on: queue) { _, login in
        #expect(DispatchQueue.getSpecific(key: key) == true)
        count.add(login.id)
        if login.id < 3 { center.post(.login, Login(id: 10 + login.id)) }
      }
      center.observe(.login, owner: owner, on: .main) { _, login in
        MainActor.assertIsolated()
        count.add(login.id)
      }
      await resident.observe(center, .login) { login in
        resident.assertIsolated()
        count.add(login.id)
      }
      for id in 1...3 { center.post(.login, Login(id: id)) }
      await center.settled()
      extendLifetime((owner, resident))
      #expect(count.all.count == 15)
    }
  }

  // MARK: - 14: causal order

  /// Each home receives a question before its answers, and the posts of one thread in order.
  @Test func everyHomeReceivesCausesBeforeTheirEffects() async throws {
    let (question, answer) = (Topic<Int>("question"), Topic<Int>("answer"))
    try await Interleavings.explore(runs: Self.runs) { center in
      let household = Household(center)
      let heard = HomeKind.allCases.map { ($0, Numbers()) }
      for (kind, numbers) in heard {
        await household.observe(answer, in: kind, isShared: true) { numbers.add(-$0) }
      }
      for (kind, numbers) in heard {
        await household.observe(question, in: kind, isShared: true) { number in
          numbers.add(number)
          center.post(answer, number)
        }
      }
      async let other: Void = { for number in 11...12 { center.post(question, number) } }()
      for number in 1...2 { center.post(question, number) }
      await other
      await household.settle()
      for (kind, numbers) in heard where kind != .task {
        let all = numbers.all
        #expect(all.filter { $0 > 0 && $0 < 10 } == [1, 2])
        #expect(all.filter { $0 > 10 } == [11, 12])
        for number in [1, 2, 11, 12] {
          #expect(all.count { $0 == -number } == HomeKind.allCases.count)
          let asked = try #require(all.firstIndex(of: number))
          let answered = try #require(all.firstIndex(of: -number))
          #expect(asked < answered)
        }
      }
    }
  }

  /// A home may answer before the post of the question has returned. No handler without a home receives the answer first.
  @Test func handlersWithoutAHomeReceiveCausesBeforeTheirEffects() async throws {
    let (question, answer) = (Topic<Int>("question"), Topic<Int>("answer"))
    try await Interleavings.explore(runs: Self.runs) { center in
      let (household, owners) = (Household(center), [Resident(), Resident(), Resident()])
      let heard = owners.map { ($0, Numbers()) }
      for (owner, numbers) in heard {
        center.observe(answer, owner: owner) { _, number in numbers.add(-number) }
        center.observe(question, owner: owner) { _, number in numbers.add(number) }
      }
      for kind in [HomeKind.queue, .mainActor, .actor] {
        await household.observe(question, in: kind) { number in center.post(answer, number) }
      }
      for number in 1...2 { center.post(question, number) }
      await household.settle()
      for (_, numbers) in heard {
        let all = numbers.all
        #expect(all.count == 8)
        for number in 1...2 {
          let asked = try #require(all.firstIndex(of: number))
          let answered = try #require(all.firstIndex(of: -number))
          #expect(asked < answered)
        }
      }
      extendLifetime(owners)
    }
  }

  /// A handler without a home answers on the posting thread, before any home has received the question.
  @Test func anImmediateAnswerDoesNotOvertakeItsQuestion() async throws {
    let (question, answer) = (Topic<Int>("question"), Topic<Int>("answer"))
    try await Interleavings.explore(runs: Self.runs) { center in
      let (household, owner) = (Household(center), Resident())
      let heard = Numbers()
      let queue = DispatchQueue(label: "home")
      center.observe(answer, owner: owner, on: queue) { _, number in heard.add(-number) }
      center.observe(question, owner: owner, on: queue) { _, number in heard.add(number) }
      center.observe(question, owner: owner) { _, number in center.post(answer, number) }
      await household.observe(answer, in: .actor) { number in
        if number == 1 { center.post(question, 2) }
      }
      center.post(question, 1)
      await household.settle()
      extendLifetime(owner)
      #expect(heard.all == [1, -1, 2, -2])
    }
  }

  // MARK: - 15: no needless hop

  @Test func lettersWaitingInAHomeAreHandledBeforeAPostMadeThere() async throws {
    actor Store {
      var ids: [Int] = []
      func observe(_ center: MulticastCenter) {
        center.observe(.login, owner: self) { (me: isolated Store, login) in
          me.ids.append(login.id)
        }
      }
      /// Posts in the actor. Returns the identities that have arrived when the post returns.
      func post(_ id: Int, _ center: MulticastCenter) -> [Int] {
        center.post(.login, Login(id: id))
        return ids
      }
    }
    try await Interleavings.explore(runs: Self.runs) { center in
      let (store, owner) = (Store(), Resident())
      let direct = Numbers()
      await store.observe(center)
      center.observe(.login, owner: owner) { _, login in direct.add(login.id) }
      for id in 1...3 {
        center.post(.login, Login(id: id))
        #expect(direct.all.count == id)
      }
      #expect(await store.post(4, center) == [1, 2, 3, 4])
      extendLifetime(owner)
    }
  }

  // MARK: - 16: recurring posts

  @Test func aPostCanRecurBetweenHomes() async throws {
    try await Interleavings.explore(runs: 30) { center in
      let household = Household(center)
      let count = Locked(0)
      for kind in [HomeKind.queue, .actor] {
        await household.observe(Topic<Int>(), in: kind) { number in
          count.withLock { $0 += 1 }
          if number > 0 { center.post(Topic<Int>(), number - 1) }
        }
      }
      center.post(Topic<Int>(), 4)
      await household.settle()
      // Two handlers receive the first number, and each of them answers with a post to both.
      let all = count.withLock { $0 }
      #expect(all == 62)
    }
  }

  // MARK: - 17: latest

  /// Observers added at any moment receive the latest message first, and then all later ones.
  @Test func lateObserversMissNoMessageAfterTheLatest() async throws {
    let topic = Topic<Int>("level", keepsLatest: true)
    let last = 6
    try await Interleavings.explore(runs: Self.runs) { center in
      let household = Household(center)
      let heard = Collected<Numbers>()
      @Sendable func observe(in kind: HomeKind) async {
        let numbers = Numbers()
        heard.add(numbers)
        await household.observe(topic, in: kind, isShared: true) { number in
          numbers.add(number)
          #expect((center.latest(of: topic) ?? 0) >= number)
        }
      }
      let direct = (Resident(), Numbers())
      async let late: Void = {
        for kind in HomeKind.allCases { await observe(in: kind) }
        center.observe(topic, owner: direct.0) { _, number in direct.1.add(number) }
      }()
      await observe(in: .queue)
      for number in 1...last { center.post(topic, number) }
      await late
      await household.settle()
      for numbers in heard.all + [direct.1] {
        let all = numbers.all
        let first = try #require(all.first)
        #expect(all == Array(first...last))
      }
      extendLifetime(direct)
    }
  }
}
