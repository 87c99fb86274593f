import Distributed
import TestSupport
import Testing

@testable import Multicast

/// Whether code runs inside an actor. Only some runtimes can report it, so the other tests do not depend on it.
@Suite struct CurrentExecutorTests {
  private actor Home {
    func ask() -> Presence { presence() }
  }

  @Test(.enabled(if: Process.knowsCurrentActor))
  func anActorIsHereOnlyForCodeInsideIt() async {
    let home = Home()
    #expect(await home.ask() == .here)
    #expect(home.presence() == .elsewhere)
    await MainActor.run { #expect(home.presence() == .elsewhere) }
  }

  @Test func theMainActorIsHereOnlyForCodeInsideIt() async {
    #expect(await MainActor.run { MainActor.shared.presence() } == .here)
    #expect(await Task.detached { MainActor.shared.presence() }.value == .elsewhere)
  }
}

#if DEBUG
  /// The check of rule 10 while another thread removes the client.
  @Suite struct RemovalDuringAHomeCheckTests {
    private distributed actor Account: PingProtocol {
      typealias ActorSystem = LocalTestingDistributedActorSystem
      func register(in delegate: MulticastDelegate<any PingProtocol>) { delegate.add(self) }
      nonisolated func ping(_ number: Int) {}
    }

    @Test func aDistributedActorThatIsRemovedWhileItIsCalledMayBeCalledAnywhere() async {
      let account = Account(actorSystem: LocalTestingDistributedActorSystem())
      let delegate = MulticastDelegate<any PingProtocol>()
      await account.whenLocal { account in account.register(in: delegate) }
      let box = delegate.clientList.boxes[0]
      #expect(box.empty())
      // Otherwise this stops the program.
      box.checkHome(as: (any PingProtocol).self, from: CallSite())
    }
  }

  @Suite struct MissingFunctionTests {
    @Test func aMissingRuntimeFunctionIsReportedOnce() async {
      let result = await #expect(processExitsWith: .success, observing: .errors) {
        onThreads(4) { _ in for _ in 0..<10 { MissingFunction.report } }
      }
      #expect(text(result).split(separator: "\n").count == 1)
      #expect(text(result).contains("cannot report whether code runs inside an actor"))
    }
  }
#endif

@Suite struct AtomicTests {
  private final class Values: Sendable {
    let number = Atomic<Int>(-5)
    let flag = Atomic<Bool>(true)
    let bits = Atomic<UInt>(.max)
  }

  private let values = Values()

  @Test func eachAtomicHasItsOwnStorage() {
    values.flag.store(false, ordering: .releasing)
    #expect(values.number.load(ordering: .acquiring) == -5)
    #expect(values.flag.load(ordering: .acquiring) == false)
    #expect(values.bits.load(ordering: .acquiring) == .max)
  }

  @Test func wrappingAddReturnsTheOldAndTheNewValue() {
    #expect(values.number.wrappingAdd(7, ordering: .relaxed) == (-5, 2))
    #expect(values.number.wrappingAdd(-3, ordering: .relaxed) == (2, -1))
    values.number.store(.min, ordering: .relaxed)
    #expect(values.number.wrappingAdd(-1, ordering: .relaxed) == (.min, .max))
  }

  @Test func additionsOfSeveralThreadsAllCount() {
    onThreads(4) { _ in
      for _ in 0..<10_000 { values.number.wrappingAdd(1, ordering: .relaxed) }
    }
    #expect(values.number.load(ordering: .relaxed) == 39_995)
  }
}

@Suite struct AtomicWordTests {
  private class Base: AtomicWord, @unchecked Sendable {
    let text = "text"
  }

  private final class Derived<Value>: Base, @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
      self.value = value
      super.init(word: 7)
    }
  }

  /// The address of the word is computed, so the compiler must have placed the word there.
  @Test func theWordIsTheFirstPropertyOfEachSubclass() {
    let object = Derived("value" as Any)
    #expect(object.withWord { unsafe exchange(&$0.pointee, with: .max) } == 7)
    #expect(AtomicWord(word: 5).withWord { unsafe $0.pointee } == 5)
    #expect(object.text == "text")
    #expect(object.value as? String == "value")
    #expect(object.withWord { unsafe $0.pointee } == .max)
  }
}

@Suite struct ReferenceAndCountTests {
  private final class Object: Sendable {}

  @Test func setReferenceKeepsTheFirstObject() {
    let reference = ReferenceAndCount(count: 1)
    #expect(reference.reference(as: Object.self) == nil)
    let first = Object()
    #expect(reference.setReference(first) === first)
    #expect(reference.setReference(Object()) === first)
    #expect(reference.reference(as: Object.self) === first)
  }

  @Test func allThreadsGetTheSameReference() {
    for _ in 0..<100 {
      let reference = ReferenceAndCount(count: 1)
      let objects = Collected<ObjectIdentifier>()
      onThreads(4) { _ in objects.add(ObjectIdentifier(reference.setReference(Object()))) }
      #expect(Set(objects.all).count == 1)
    }
  }

  @Test func theReferencedObjectIsReleasedWithItsHolder() {
    weak var kept: Object?
    weak var refused: Object?
    do {
      let reference = ReferenceAndCount(count: 1)
      let (first, second) = (Object(), Object())
      (kept, refused) = (first, second)
      _ = (reference.setReference(first), reference.setReference(second))
    }
    #expect(kept == nil)
    #expect(refused == nil)
  }

  @Test func theCountChangesBesideTheReference() {
    let reference = ReferenceAndCount(count: 1)
    let object = Object()
    reference.setReference(object)
    onThreads(4) { _ in for _ in 0..<1_000 { _ = reference.addToCount(1) } }
    #expect(reference.addToCount(.max) == 4_001)
    #expect(reference.addToCount(0) == 4_000)
    #expect(reference.reference(as: Object.self) === object)
  }
}

@Suite struct CauseOfPostTests {
  @Test func aCauseLivesAsLongAsItsEffects() {
    weak var kept: Cause?
    do {
      let effect: Cause
      do {
        let post = Post(to: ClientList(.listener(Int.self)), from: CallSite())
        kept = post.cause
        effect = Cause(site: post.site, parent: post.cause)
      }
      #expect(kept != nil)
      #expect(Array(effect.sites).count == 2)
    }
    #expect(kept == nil)
  }
}

@Suite struct LockedTests {
  private final class Counter: Sendable {
    let state = Locked<(count: Int, text: String)>((0, ""))
  }

  @Test func oneThreadAtATimeUsesTheValue() {
    let counter = Counter()
    let rounds = Process.rounds(100_000, quick: 5_000)
    onThreads(4) { _ in
      for _ in 0..<rounds {
        counter.state.withLock { state in
          state.count += 1
          state.text = "\(state.count)"
        }
      }
    }
    #expect(counter.state.withLock { $0.count } == 4 * rounds)
    #expect(counter.state.withLock { $0.text } == "\(4 * rounds)")
  }

  /// A waiting thread sleeps when it has tried for a while. The lock is held for longer than that.
  @Test func sleepingThreadsAreWokenWhenTheLockIsReleased() {
    let counter = Counter()
    onThreads(4) { _ in
      for _ in 0..<20 {
        counter.state.withLock { state in
          state.count += 1
          for _ in 0..<1_000 { Process.letOthersRun() }
        }
      }
    }
    #expect(counter.state.withLock { $0.count } == 80)
  }

  @Test func anErrorReleasesTheLock() {
    struct Failure: Error {}
    let counter = Counter()
    #expect(throws: Failure.self) {
      try counter.state.withLock { state throws(Failure) in
        state.count = 1
        throw Failure()
      }
    }
    #expect(counter.state.withLock { $0.count } == 1)
  }

  @Test func theValueIsReleasedWithTheLock() {
    weak var value: Counter?
    do {
      let counter = Counter()
      value = counter
      let locked = Locked<Counter>(counter)
      #expect(locked.withLock { $0 } === counter)
    }
    #expect(value == nil)
  }
}

@Suite struct StripedCounterTests {
  /// An object, because `#expect` copies what it takes apart.
  private final class Counter: Sendable {
    private let activities = StripedCounter()
    var isZero: Bool { activities.isZero }
    func begin() -> StripedCounter.Stripe { activities.begin() }
    func end(_ stripe: StripedCounter.Stripe) -> Bool { activities.end(stripe) }
    func setMark(_ isMarked: Bool) { activities.setMark(isMarked) }
  }

  private let counter = Counter()

  @Test func onlyTheLastEndOfAMarkedStripeAsksForTheCount() {
    let outer = counter.begin()
    let inner = counter.begin()
    #expect(!counter.end(inner))
    #expect(!counter.isZero)
    counter.setMark(true)
    counter.setMark(true)
    #expect(!counter.end(counter.begin()))
    #expect(counter.end(outer))
    #expect(counter.isZero)
    counter.setMark(false)
    #expect(!counter.end(counter.begin()))
  }

  /// Activities of several threads count until each has ended, in whichever stripe.
  @Test func activitiesOfManyThreadsAreCounted() {
    let stripes = Locked<[StripedCounter.Stripe]>([])
    for _ in 0..<40 { onNewThread { stripes.withLock { $0.append(counter.begin()) } } }
    for stripe in stripes.withLock({ $0 }) {
      #expect(!counter.isZero)
      #expect(!counter.end(stripe))
    }
    #expect(counter.isZero)
  }
}

@Suite struct ClockTests {
  /// The clock of a virtual machine may step back, and a negative difference would stop the program.
  @Test func aTimeIsNeverBeforeAnEarlierOne() {
    #expect(Clock.now(notBefore: .max) == .max)
    let earlier = Clock.now
    #expect(Clock.now(notBefore: earlier) >= earlier)
  }
}
