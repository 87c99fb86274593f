import Dispatch
import TestSupport
import Testing

@testable import Multicast

/// The call of an awaiting listener includes its task and the child tasks, but not other tasks that the listener starts.
@Suite struct AwaitedCallTests {
  let owner = kept(Owner())
  let other = kept(Owner("other"))
  let testHome = TestHome()
  let reports = Reports()
  var center: MulticastCenter { reports.center }
  let topic = Topic<Int>("topic")
  let journal = Journal()

  enum Part: CaseIterable { case task, asyncLet, group, grandchild }

  private static func run(_ part: Part, _ body: @escaping @Sendable () async -> Void) async {
    switch part {
    case .task: await body()
    case .asyncLet:
      async let result: Void = body()
      await result
    case .group: await withTaskGroup(of: Void.self) { $0.addTask { await body() } }
    case .grandchild:
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          async let result: Void = body()
          await result
        }
      }
    }
  }

  // MARK: - delivered()

  /// A child task that waited for the handler's next letter would never return, because the handler waits for the child task.
  @Test(arguments: Part.allCases) func deliveredInACallOrItsChildTaskDoesNotWaitForThatCall(
    part: Part
  ) async {
    let handled = Numbers()
    center.observe(topic, owner: owner) { [center, topic] _, number in
      if number == 1 {
        await Self.run(part) { await center.post(topic, 2).delivered() }
      }
      handled.add(number)
    }
    center.post(topic, 1)
    await handled.wait(for: 2)
    #expect(handled.all == [1, 2])
  }

  @Test func aClientThatHasRemovedItselfDoesNotWaitForItsOwnCall() async {
    let returned = Signal()
    let delegates = MulticastDelegate<any WorkerProtocol>()
    let box = Locked<Worker?>(nil)
    let worker = Worker(onSlowWork: { _ in
      let posted = delegates.post(awaiting: { await $0.workSlowly(2) })
      _ = box.withLock { $0.map { delegates.remove($0) } }
      await posted.delivered()
      returned.send()
    })
    box.withLock { $0 = worker }
    delegates.add(worker)
    delegates.post(awaiting: { await $0.workSlowly(1) })
    await returned.wait()
    box.withLock { $0 = nil }
  }

  enum End: CaseIterable { case once, cancel, removeHandlers }

  /// A removed handler does not receive the posts that it makes, and another handler does.
  @Test(arguments: End.allCases) func aRemovedHandlerWaitsForTheOtherHandlers(end: End) async {
    let returned = Signal()
    let observation = Locked<TopicObservation?>(nil)
    let token = center.observe(topic, owner: owner, once: end == .once) {
      [center, topic, owner, journal] _, number in
      switch end {
      case .once: break
      case .cancel: observation.withLock { $0 }?.cancel()
      case .removeHandlers: center.removeHandlers(of: topic, owner: owner)
      }
      await center.post(topic, number + 1).delivered()
      journal.write("returned")
      returned.send()
    }
    observation.withLock { $0 = token }
    center.observe(topic, owner: other) { [journal] _, number in
      for _ in 0..<50 { await Task.yield() }
      journal.write("other \(number)")
    }
    center.post(topic, 1)
    await returned.wait()
    #expect(journal.read() == "other 1 other 2 returned")
  }

  /// A handler that observes later receives the stored message. `delivered()` of the post does not wait for that call.
  @Test func deliveredDoesNotWaitForAHandlerThatObservesLater() async {
    let latest = Topic<Int>("latest", keepsLatest: true)
    let (isCalled, mayReturn, isLateCalled, mayLateReturn) = (
      Signal(), Signal(), Signal(), Signal()
    )
    center.observe(latest, owner: owner) { @Sendable _, _ in
      isCalled.send()
      await mayReturn.wait()
    }
    let posted = center.post(latest, 1)
    await isCalled.wait()
    center.observe(latest, owner: other) { @Sendable _, _ in
      isLateCalled.send()
      await mayLateReturn.wait()
    }
    await isLateCalled.wait()
    mayReturn.send()
    await posted.delivered()
    mayLateReturn.send()
    #expect(await center.settled())
  }

  // MARK: - settled()

  @Test(arguments: Part.allCases) func settledInACallOrItsChildTaskReturnsFalse(part: Part) async {
    let results = Collected<Bool>()
    center.observe(topic, owner: owner) { [center] _, _ in
      await Self.run(part) { results.add(await center.settled()) }
    }
    await center.post(topic, 1).delivered()
    #expect(results.all == [false])
  }

  /// The task is not part of the call, so it waits until the call has returned.
  @Test func settledInATaskThatACallStartsWaitsForTheCall() async {
    for _ in 0..<100 {
      let results = Collected<Bool>()
      let observation = center.observe(topic, owner: owner) { [center] _, _ in
        Task { results.add(await center.settled()) }
        await Task.yield()
      }
      center.post(topic, 1)
      await results.wait(for: 1)
      #expect(results.all == [true])
      observation.cancel()
    }
  }

  // MARK: - Causes

  @Test(arguments: [Part.task, .asyncLet]) func postsOfACallAndItsChildTasksRecur(part: Part) async
  {
    let count = Numbers()
    center.observe(topic, owner: owner) { [center, topic] _, number in
      count.add(number)
      // If no post is refused, this ends the chain.
      if number < 2_000 { await Self.run(part) { center.post(topic, number + 1) } }
    }
    center.post(topic, 0)
    #expect(await center.settled())
    #expect(count.all.count == Cause.limit + 2)
    #expect(reports.all.count == 1)
  }

  @Test func postsOfATaskThatACallStartsDoNotRecur() async {
    let count = Numbers()
    center.observe(topic, owner: owner) { [center, topic] _, number in
      count.add(number)
      if number < 1_500 {
        let isPosted = Signal()
        Task {
          center.post(topic, number + 1)
          isPosted.send()
        }
        // The call has not returned while the task posts.
        await isPosted.wait()
      }
    }
    center.post(topic, 0)
    await count.wait(for: 1_501)
    #expect(reports.all.isEmpty)
  }
}
