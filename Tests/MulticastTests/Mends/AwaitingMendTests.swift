import TestSupport
import Testing

@testable import Multicast

/// Who awaits is called in an actor. There, the last references to clients, messages and closures are released.
@Suite struct AwaitingMendTests {
  let center = MulticastCenter()
  let ends = Collected<Bool>()
  let began = Signal()
  let go = Signal()

  /// Notes whether it ends in the main actor.
  private final class Passing: WorkerProtocol {
    let ends: Collected<Bool>
    init(_ ends: Collected<Bool>) { self.ends = ends }
    deinit { ends.add(MainActor.shared.isCurrent == true) }
  }

  private enum Carried { @TaskLocal static var number = 0 }

  @Test(arguments: [false, true], [false, true])
  func whatAHandlerHoldsEndsInItsActor(once: Bool, isTraced: Bool) async {
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

  @Test func whatABodyHoldsEndsInItsActor() async {
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

  @Test func theMessageOfAHandlerThatHasEndedEndsInItsActor() async {
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

  @Test func anAwaitingHandlerOfAnotherActorIsANewOne() async {
    let (owner, numbers) = (kept(Owner()), Numbers())
    let first = Topic<Int>("first")
    center.observe(first, owner: owner, id: 1) { @MainActor [began, go] _, number in
      began.send()
      await go.wait()
      numbers.add(number)
    }
    center.post(first, 1)
    center.post(first, 2)
    await began.wait()
    center.observe(first, owner: owner, id: 1) { _, number in
      await Task.yield()
      numbers.add(10 * number)
    }
    go.send()
    center.post(first, 3)
    await center.settled()
    #expect(numbers.all.sorted() == [1, 30])
  }
}
