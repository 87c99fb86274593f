import Distributed
import Multicast
import TestSupport
import Testing

/// Handlers that take their owner, an actor, isolated, and clients that are actors.
@Suite struct IsolatedOwnerTests {
  actor Store {
    private(set) var numbers: [Int] = []
    private let sentinel: Sentinel?

    init(_ sentinel: Sentinel? = nil) { self.sentinel = sentinel }

    func add(_ number: Int) {
      assertIsolated()
      numbers.append(number)
    }

    func post(_ center: MulticastCenter, _ number: Int) -> [Int] {
      center.post(Topic<Int>(), number)
      return numbers
    }
  }

  let center = MulticastCenter()

  @Test func theHandlerRunsInItsOwner() async {
    let store = Store()
    center.observe(Topic<Int>(), owner: store) { (store: isolated Store, number) in
      store.add(number)
    }
    for number in 1...10 { #expect(center.post(Topic<Int>(), number).clients == 1) }
    await center.post(Topic<Int>(), 11).delivered()
    // In the owner, a post calls it at once.
    #expect(await store.post(center, 12) == Array(1...12))
  }

  @Test func theHandlerDoesNotKeepItsOwner() async {
    let ended = Signal()
    do {
      let store = Store(Sentinel { ended.send() })
      center.observe(Topic<Int>(), owner: store) { (store: isolated Store, number) in
        store.add(number)
      }
      await center.post(Topic<Int>(), 1).delivered()
    }
    await ended.wait()
    #expect(await center.post(Topic<Int>(), 2).delivered() <= 1)
    #expect(center.post(Topic<Int>(), 2).clients == 0)
  }

  @Test func anActorThatAwaitsIsCalledInItself() async {
    let store = WorkingStore()
    center.add(store, for: WorkerProtocol.self)
    for number in 1...10 {
      center.post(WorkerProtocol.self, awaiting: { await $0.workSlowly(number) })
    }
    await center.post(WorkerProtocol.self, awaiting: { await $0.workSlowly(11) }).delivered()
    #expect(await store.numbers == Array(1...11))
  }

  actor WorkingStore: WorkerProtocol {
    private(set) var numbers: [Int] = []
    nonisolated func work(_ number: Int) {}
    func workSlowly(_ number: Int) async { numbers.append(number) }
  }

  @Test func distributedActorsAreAwaited() async throws {
    let worker = DistributedWorker(actorSystem: LocalTestingDistributedActorSystem())
    center.add(worker, for: (any DistributedWork).self)
    for number in 1...10 {
      let posted = center.post(
        (any DistributedWork).self, awaiting: { try? await $0.work(number) })
      #expect(posted.clients == 1)
    }
    await center.post((any DistributedWork).self, awaiting: { try? await $0.work(11) }).delivered()
    #expect(try await worker.total() == 66)
  }
}

private protocol DistributedWork: DistributedActor
where ActorSystem == LocalTestingDistributedActorSystem {
  distributed func work(_ number: Int)
}

private distributed actor DistributedWorker: DistributedWork {
  typealias ActorSystem = LocalTestingDistributedActorSystem
  private var sum = 0
  distributed func work(_ number: Int) { sum += number }
  distributed func total() -> Int { sum }
}
