import Dispatch
import Multicast
import MulticastTesting
import TestSupport
import Testing

/// An exploration comes to every order that rule 14 allows, and to no other.
@Suite struct InterleavingTests {
  @Test(arguments: [
    (HomeKind.queue, HomeKind.queue), (.queue, .mainActor), (.actor, .queue), (.mainActor, .actor),
    (.task, .actor), (.task, .task), (.mainActor, .task),
  ])
  func twoPostsToTwoHomesComeInEveryOrder(_ one: HomeKind, _ other: HomeKind) async throws {
    let allowed = PartialOrder(
      events: ["p1", "p2", "A1", "A2", "B1", "B2"],
      precedences: [
        ("p1", "p2"), ("p1", "A1"), ("p1", "B1"), ("p2", "A2"), ("p2", "B2"), ("A1", "A2"),
        ("B1", "B2"),
      ])
    try await expectOrders(allowed) { center, journal in
      let household = Household(center)
      await household.observe(Topic<Int>(), in: one) { journal.write("A\($0)") }
      await household.observe(Topic<Int>(), in: other) { journal.write("B\($0)") }
      for number in 1...2 {
        journal.write("p\(number)")
        center.post(Topic<Int>(), number)
      }
      await household.settle()
    }
  }

  /// One handler's effects, posted in one call, may be heard by one home before another home's effects.
  @Test(arguments: HomeKind.allCases)
  func betweenTwoPostsOfOneHandlerOthersHaveTheirTurn(_ kind: HomeKind) async throws {
    let allowed = PartialOrder(
      events: ["C1", "C2", "Ce"], precedences: [("C1", "C2"), ("C1", "Ce")])
    try await expectOrders(allowed) { center, journal in
      let household = Household(center)
      let (question, answer) = (Topic<String>("question"), Topic<String>("answer"))
      await household.observe(question, in: kind) { _ in
        center.post(answer, "1")
        center.post(answer, "2")
      }
      await household.observe(answer, in: .queue) { if $0 == "1" { center.post(answer, "e") } }
      await household.observe(answer, in: .queue) { journal.write("C\($0)") }
      center.post(question, "?")
      await household.settle()
    }
  }

  /// Runs a body with one seed after the other until it has written its journal in each allowed order.
  private func expectOrders(
    _ allowed: PartialOrder,
    _ body: @escaping @Sendable (MulticastCenter, Journal) async throws -> Void
  ) async throws {
    let allowed = allowed.orders
    let found = Locked<Set<String>>([])
    for seed in 0..<5000 where found.withLock({ $0.count }) < allowed.count {
      try await Interleavings.replay(UInt64(seed)) { center in
        let journal = Journal()
        try await body(center, journal)
        let order = journal.read()
        #expect(allowed.contains(order))
        found.withLock { _ = $0.insert(order) }
      }
    }
    #expect(found.withLock { $0 } == allowed)
  }

  @Test func aSeedRepeatsItsOrder() async throws {
    let orders = Collected<[String]>()
    for _ in 0..<3 {
      let found = Collected<String>()
      try await Interleavings.explore(60) { center in
        let journal = Journal()
        let household = Household(center)
        for (index, kind) in HomeKind.allCases.enumerated() {
          await household.observe(Topic<Int>(), in: kind) { number in
            journal.write("\(kind)\(number)")
            if number < 10 { center.post(Topic<Int>(), 10 * number + index) }
          }
        }
        async let other: Void = { for number in 5...6 { center.post(Topic<Int>(), number) } }()
        for number in 1...2 { center.post(Topic<Int>(), number) }
        await other
        await household.settle()
        found.add(journal.read())
      }
      orders.add(found.all)
    }
    #expect(Set(orders.all).count == 1)
    #expect(Set(orders.all[0]).count > 50)
  }

  @Test @MainActor func whatTheMainActorPostsIsRepeated() async throws {
    @MainActor final class Model {
      let center: MulticastCenter
      init(_ center: MulticastCenter) { self.center = center }
      func load() {
        Task {
          center.post(Topic<Int>(), 1)
          Task { center.post(Topic<Int>(), 3) }
          center.post(Topic<Int>(), 2)
        }
        center.post(Topic<Int>(), 0)
      }
    }
    let orders = Collected<[String]>()
    for _ in 0..<3 {
      let found = Collected<String>()
      try await Interleavings.explore(60) { center in
        let journal = Journal()
        let household = Household(center)
        await household.observe(Topic<Int>(), in: .queue) { journal.write("A\($0)") }
        await household.observe(Topic<Int>(), in: .actor) { journal.write("B\($0)") }
        let model = await Model(center)
        await model.load()
        await household.settle()
        found.add(journal.read())
      }
      orders.add(found.all)
    }
    #expect(Set(orders.all).count == 1)
    #expect(Set(orders.all[0]).count > 5)
  }
}
