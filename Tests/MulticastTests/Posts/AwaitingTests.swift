import Dispatch
import Distributed
import Foundation
import TestSupport
import Testing

@testable import Multicast

/// Handlers that receive their owner, an actor, as an isolated parameter, and clients that are actors.
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

  @Test func aHandlerRunsInTheActorThatOwnsIt() async {
    let store = Store()
    center.observe(Topic<Int>(), owner: store) { (store: isolated Store, number) in
      store.add(number)
    }
    for number in 1...10 { #expect(center.post(Topic<Int>(), number).clients == 1) }
    await center.post(Topic<Int>(), 11).delivered()
    // A post made in the owner calls the handler before it returns.
    #expect(await store.post(center, 12) == Array(1...12))
  }

  @Test func aHandlerDoesNotRetainTheActorThatOwnsIt() async {
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

  @Test func anAwaitingPostCallsAnActorInItself() async {
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

  @Test func anAwaitingPostCallsADistributedActor() async throws {
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

private protocol MainWork: Sendable {
  @MainActor func workOnMain()
}

private final class MainWorker: MainWork {
  let calls = Numbers()
  @MainActor func workOnMain() { calls.add(1) }
}

private actor Adder {
  func add(_ worker: MainWorker, to center: MulticastCenter) {
    center.add(worker, for: (any MainWork).self, isolation: #isolation)
  }
}

/// A client whose home is not the actor of the post's closure.
@Suite struct AwaitingElsewhereTests {
  /// The call has left the client's home, and waits for the main actor, which removes the client.
  @MainActor @Test func aClientThatIsRemovedBeforeItsTurnInTheClosuresActorIsNotCalled() async {
    let begun = DispatchSemaphore(value: 0)
    let center = MulticastCenter(
      onDelivery: { event in
        if event.home != nil, case .began = event.phase { begun.signal() }
      })
    let (worker, adder) = (MainWorker(), Adder())
    await adder.add(worker, to: center)
    center.post((any MainWork).self, awaiting: { @MainActor in $0.workOnMain() })
    begun.wait()
    // The task goes on to the closure's actor.
    for _ in 0..<1_000 { sched_yield() }
    #expect(center.remove(worker, for: (any MainWork).self))
    await center.settled()
    #expect(worker.calls.all == [])
    extendLifetime(adder)
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

/// An awaiting listener is called in an actor. The last references to its client, message and closure are released there.
@Suite struct AwaitingReleaseTests {
  let center = MulticastCenter()
  let ends = Collected<Bool>()
  let began = Signal()
  let go = Signal()

  /// Records whether it is deallocated in the main actor.
  private final class Passing: WorkerProtocol {
    let ends: Collected<Bool>
    init(_ ends: Collected<Bool>) { self.ends = ends }
    deinit { ends.add(MainActor.presence() == .here) }
  }

  private enum Carried { @TaskLocal static var number = 0 }

  @Test(arguments: [false, true], [false, true])
  func objectsOfAnAwaitingHandlerAreReleasedInItsActor(once: Bool, isTraced: Bool) async {
    let center =
      isTraced
      ? MulticastCenter(onDelivery: { _ in }, carrying: CarriedValue(Carried.$number)) : center
    let owner = Locked<Passing?>(Passing(ends))
    await MainActor.run {
      guard let passing = owner.withLock({ $0 }) else { return }
      let captured = Passing(ends)
      center.observe(Topic<Passing>(), owner: passing, once: once) { [began, go] _, message in
        MainActor.assertIsolated()
        began.send()
        await go.wait()
        extendLifetime(captured)
      }
    }
    center.post(Topic<Passing>(), Passing(ends))
    await began.wait()
    owner.withLock { $0 = nil }
    go.send()
    await center.settled()
    #expect(ends.all == [true, true, true])
  }

  @Test func objectsOfAnAwaitingBodyAreReleasedInItsActor() async {
    let client = Locked<Passing?>(Passing(ends))
    center.add(client.withLock { $0 }!, for: WorkerProtocol.self)
    let post = { [center, began, go] (captured: Passing) in
      center.post(
        WorkerProtocol.self,
        awaiting: { @MainActor client in
          began.send()
          await go.wait()
          extendLifetime(captured)
        })
    }
    _ = post(Passing(ends))
    await began.wait()
    client.withLock { $0 = nil }
    go.send()
    await center.settled()
    #expect(ends.all == [true, true])
  }

  /// A thread that loads a client may become its last owner. So the thread that posts loads only what it may release.
  @Test func clientsWithoutAHomeAreLoadedInTheActorOfAnAwaitingBody() async {
    func post(_ body: @escaping @isolated(any) @Sendable (any WorkerProtocol) async -> Void) -> Int
    {
      center.add(Passing(Collected()), for: WorkerProtocol.self)
      let clients = Atomic<Int>(-1)
      onNewThread { [center] in
        let posted = center.post(WorkerProtocol.self, awaiting: body)
        clients.store(posted.clients, ordering: .relaxed)
      }
      return clients.load(ordering: .relaxed)
    }
    #expect(post { @MainActor _ in } == 1)
    await center.settled()
    #expect(center[WorkerProtocol.self].isEmpty)
    #expect(post { _ in } == 0)
  }

  @Test func theMessageForACancelledHandlerIsReleasedInItsActor() async {
    let owner = Passing(Collected())
    let observation = await MainActor.run {
      center.observe(Topic<Passing>(), owner: owner) { @MainActor [began, go] _, _ in
        began.send()
        await go.wait()
      }
    }
    center.post(Topic<Passing>(), Passing(Collected()))
    await began.wait()
    center.post(Topic<Passing>(), Passing(ends))
    observation.cancel()
    go.send()
    await center.settled()
    #expect(ends.all == [true])
    extendLifetime(owner)
  }
}
