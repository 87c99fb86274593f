import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Multicast

/// The stored post of a topic that keeps its latest message: when `observe` delivers it, when `removeLatest` withdraws it, and which
/// thread calls handlers without a home.
@Suite struct StoredPostTests {
  let owner = kept(Owner())
  let testHome = TestHome()
  let reports = Reports()
  var center: MulticastCenter { reports.center }
  let topic = Topic<Int>("latest", keepsLatest: true)

  @Test(arguments: [false, true]) func aLoopThroughObserveIsRefused(hasID: Bool) {
    let calls = Numbers()
    center.post(topic, 1)
    @Sendable func notify() {
      // If no delivery is refused, this ends the loop.
      if calls.all.count < 100 { center.notify(PingProtocol.self) { $0.ping(0) } }
    }
    center.adding(
      Listener { [center, topic, owner] _ in
        calls.add(0)
        center.observe(topic, owner: owner, id: hasID ? 1 : nil) { _, _ in notify() }
      })
    notify()
    #expect(calls.all.count == 1)
    #expect(reports.all.count == 1)
  }

  @Test func handlersThatObserveInTurnDoNotLengthenTheChainOfCauses() async {
    let lengths = Numbers()
    center.post(topic, 1)
    @Sendable func observe(_ rest: Int) {
      lengths.add(Cause.current.map { Array($0.sites).count } ?? 0)
      if rest == 0 { return }
      center.observe(topic, owner: owner, once: true) { _, _ in observe(rest - 1) }
    }
    observe(10)
    await center.settled()
    #expect(lengths.all.count == 11)
    #expect((lengths.all.max() ?? 0) <= 2)
  }

  @Test func aMessagePostedAndRemovedDuringACallIsRemoved() {
    let calls = Numbers()
    center.observe(topic, owner: owner) { _, number in calls.add(number) }
    center.observe(Topic<String>(), owner: owner) { [center, topic] _, _ in
      center.post(topic, 1)
      center.removeLatest(of: topic)
      center.post(topic, 2)
      center.removeLatest(of: topic)
    }
    center.post(Topic<String>(), "go")
    #expect(calls.all == [1, 2])
    #expect(center.latest(of: topic) == nil)
  }

  /// The withdrawn message arrives after the message of another thread, which the handler has received.
  @Test func aReplacementBeginsWithTheLatestMessageEvenAfterAWithdrawnOne() async {
    let numbers = Numbers()
    center.observe(topic, owner: owner, id: "x", on: testHome.queue) { _, number in
      numbers.add(number)
    }
    center.observe(Topic<String>(), owner: owner) { [center, topic, testHome] _, _ in
      center.post(topic, 1)
      center.removeLatest(of: topic)
      onNewThread { center.post(topic, 2) }
      testHome.queue.sync {}
    }
    center.post(Topic<String>(), "go")
    testHome.queue.sync {}
    #expect(numbers.all == [2, 1])
    #expect(center.latest(of: topic) == 2)
    center.observe(topic, owner: owner, id: "x", on: testHome.queue) { _, number in
      numbers.add(10 * number)
    }
    testHome.queue.sync {}
    #expect(numbers.all == [2, 1, 20])
  }

  /// A removal does not withdraw the posts that another thread has made, or that follow a call on another thread.
  @Test func removeLatestWithdrawsOnlyPostsOfItsOwnThread() {
    let first = Numbers()
    let late = Numbers()
    center.observe(topic, owner: owner) { _, number in first.add(number) }
    center.post(topic, 1)
    center.observe(Topic<String>(), owner: owner) { [center, topic, owner] _, _ in
      center.post(topic, 2)
      onNewThread {
        center.removeLatest(of: topic)
        center.post(topic, 3)
        center.observe(topic, owner: owner) { _, number in late.add(number) }
      }
    }
    center.post(Topic<String>(), "go")
    #expect(first.all == [1, 3, 2])
    #expect(late.all == [3, 2])
    #expect(center.latest(of: topic) == 2)
  }

  /// A withdrawn message is delivered, unless a newer one that is stored outdates it.
  @Test func aWithdrawnMessageIsSkippedForANewerOne() {
    let numbers = Numbers()
    center.observe(topic, owner: owner, newestOnly: true, on: testHome.queue) { _, number in
      numbers.add(number)
    }
    testHome.queue.suspend()
    center.observe(Topic<String>(), owner: owner) { [center, topic] _, _ in
      center.post(topic, 1)
      center.removeLatest(of: topic)
      center.post(topic, 2)
    }
    center.post(Topic<String>(), "go")
    testHome.queue.resume()
    testHome.queue.sync {}
    #expect(numbers.all == [2])
  }

  @Test func aWithdrawnMessageIsNotSkippedForAnOlderOne() {
    let numbers = Numbers()
    center.observe(topic, owner: owner, newestOnly: true) { _, number in numbers.add(number) }
    center.post(topic, 1)
    center.observe(Topic<String>(), owner: owner) { [center, topic] _, _ in
      center.post(topic, 2)
      center.removeLatest(of: topic)
    }
    center.post(Topic<String>(), "go")
    #expect(numbers.all == [1, 2])
  }

  /// A withdrawn message does not outdate the stored one: a new handler receives the stored one, and not the withdrawn one.
  @Test func aLateHandlerWithNewestOnlyBeginsWithTheStoredMessage() {
    let numbers = Numbers()
    center.observe(topic, owner: owner) { _, _ in }
    center.observe(Topic<String>(), owner: owner) { [center, topic] _, _ in
      center.post(topic, 1)
      center.removeLatest(of: topic)
      onNewThread { center.post(topic, 2) }
    }
    center.post(Topic<String>(), "go")
    center.observe(topic, owner: owner, newestOnly: true) { _, number in numbers.add(number) }
    #expect(numbers.all == [2])
  }

  /// A handler that observes after the withdrawal is none of the handlers that the post was made for.
  @Test(arguments: HomeKind.allCases)
  func aHandlerThatObservesAfterAWithdrawalReceivesNothing(home: HomeKind) async {
    let (numbers, homes) = (Numbers(), Homes())
    center.observe(topic, owner: owner) { _, number in numbers.add(number) }
    center.observe(Topic<String>(), owner: owner) { [center, topic, owner] _, _ in
      center.post(topic, 1)
      center.removeLatest(of: topic)
      center.observe(topic, owner: owner, id: "late", in: home, of: homes) { numbers.add(10 + $0) }
    }
    center.post(Topic<String>(), "go")
    await center.settled()
    #expect(numbers.all == [1])
  }

  /// A handler that observes between the post and its withdrawal has begun with an earlier message, and needs this one.
  @Test func aHandlerThatObservesBeforeAWithdrawalReceivesTheMessage() async {
    let numbers = Numbers()
    center.post(topic, 1)
    center.observe(Topic<String>(), owner: owner) { [center, topic, owner] _, _ in
      center.post(topic, 2)
      center.observe(topic, owner: owner) { _, number in numbers.add(number) }
      center.removeLatest(of: topic)
    }
    center.post(Topic<String>(), "go")
    await center.settled()
    #expect(numbers.all == [1, 2])
  }

  /// The code that observes has caused the call, and not the stored message: these posts are made one after the other, from
  /// outside.
  @Test func postsOfLateHandlersDoNotRecur() {
    center.post(topic, 0)
    for _ in 1...2_000 {
      center.observe(topic, owner: owner, once: true) { [center, topic] _, number in
        center.post(topic, number + 1)
      }
    }
    #expect(center.latest(of: topic) == 2_000)
    #expect(reports.all.isEmpty)
  }

  @Test(arguments: [false, true]) func aLoopOfPostsThroughObserveRecurs(isElsewhere: Bool) async {
    let rounds = Numbers()
    center.post(topic, 0)
    center.observe(Topic<String>(), owner: owner) { [center, topic, owner, testHome] _, _ in
      rounds.add(0)
      // If no post is refused, this ends the loop.
      if rounds.all.count > 2 * Cause.limit { return }
      let handler: @Sendable (Owner, Int) -> Void = { _, _ in center.post(Topic<String>(), "go") }
      if isElsewhere {
        center.observe(topic, owner: owner, once: true, on: testHome.queue, handler)
      } else {
        center.observe(topic, owner: owner, once: true, handler)
      }
    }
    center.post(Topic<String>(), "go")
    await center.settled()
    #expect(rounds.all.count == Cause.limit + 2)
    #expect(reports.all.count == 1)
  }

  /// A thread that observes handles a foreign letter of the same stored post. The calls for that letter are not nested in `observe`.
  @Test func aLetterOfTheStoredPostIsNotNestedInTheObservingThread() {
    let (center, topic, owner) = (center, topic, owner)
    let calls = Numbers()
    let isInCall = Atomic<Bool>(false)
    @Sendable func notify() { center.notify(PingProtocol.self) { $0.ping(0) } }
    center.post(topic, 1)
    center.adding(
      Listener { _ in
        calls.add(0)
        if isInCall.load(ordering: .relaxed) { return }
        isInCall.store(true, ordering: .relaxed)
        // Another thread leaves a letter of the stored post for a handler in this home. Then this thread observes, too.
        onNewThread {
          center.observe(topic, owner: owner, on: self.testHome.queue) { _, _ in notify() }
        }
        center.observe(topic, owner: owner, on: self.testHome.queue) { _, _ in }
      })
    testHome.queue.sync { notify() }
    #expect(reports.all.isEmpty)
    #expect(calls.all.count == 2)
  }

  @Test func deliveredReturnsAfterTheMessageIsStored() async {
    center.observe(topic, owner: owner, on: testHome.queue) { _, _ in }
    for number in 1...100 {
      await center.post(topic, number).delivered()
      #expect(center.latest(of: topic) == number)
    }
    let late = Numbers()
    center.observe(topic, owner: owner) { _, number in late.add(number) }
    #expect(late.all == [100])
  }

  @Test func aPostingThreadHandsForeignLettersOverAfterAThousand() async {
    let here = Locked<Int>(0)
    let numbers = Numbers()
    let (began, posted) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let poster = Locked<ObjectIdentifier?>(nil)
    center.observe(topic, owner: owner) { _, number in
      if number == 0 {
        poster.withLock { $0 = ObjectIdentifier(Thread.current) }
        began.signal()
        posted.wait()
      }
      if poster.withLock({ $0 == ObjectIdentifier(Thread.current) }) { here.withLock { $0 += 1 } }
      numbers.add(number)
    }
    let done = Signal()
    DispatchQueue(label: "poster").async { [center, topic] in
      center.post(topic, 0)
      poster.withLock { $0 = nil }
      done.send()
    }
    DispatchQueue(label: "others").async { [center, topic] in
      began.wait()
      for number in 1...5_000 { center.post(topic, number) }
      posted.signal()
    }
    await done.wait()
    await numbers.wait(for: 5_001)
    #expect(here.withLock { $0 } <= 1_001)
    #expect(numbers.all == Array(0...5_000))
  }

  @Test(arguments: [false, true]) func aDeallocatedCenterReleasesItsLatestMessages(inCall: Bool) {
    let (journal, testHome) = (Journal(), TestHome())
    let latest = Topic<Sentinel>("latest", keepsLatest: true)
    let center = Locked<MulticastCenter?>(MulticastCenter())
    weak var office: PostOffice?
    office = center.withLock { $0 }?.office
    testHome.queue.suspend()
    center.withLock { $0 }?.observe(latest, owner: owner, on: testHome.queue) { _, _ in
      let last = center.withLock { $0.take() }
      // This post follows, so it is delivered after the center has been released.
      if inCall { last?.post(latest, Sentinel(journal)) }
    }
    center.withLock { $0 }?.post(latest, Sentinel(journal))
    testHome.queue.resume()
    testHome.queue.sync {}
    #expect(journal.all.count == (inCall ? 2 : 1))
    #expect(office == nil)
  }

  @Test func aHandlerAddedAfterAPostWasMadeIsCalledInTheOrderOfRegistration() {
    let journal = Journal()
    center.observe(topic, owner: owner) { [center, topic, owner] _, number in
      journal.write("one\(number)")
      if number > 1 { return }
      center.post(topic, 2)
      center.observe(topic, owner: owner) { _, number in journal.write("two\(number)") }
    }
    center.post(topic, 1)
    #expect(journal.read() == "one1 two1 one2 two2")
  }

  @Test func handlersWithoutAHomeAreCalledOneAtATimeInOrder() {
    let inCall = Locked<Int>(0)
    let wrong = Numbers()
    let numbers = [Numbers(), Numbers()]
    for collected in numbers {
      center.observe(topic, owner: owner) { _, number in
        let others = inCall.withLock { exchange(&$0, with: $0 + 1) }
        // The second handler never has more messages than the first one.
        if others > 0 || numbers[0].all.count < collected.all.count { wrong.add(number) }
        collected.add(number)
        Process.letOthersRun()
        inCall.withLock { $0 -= 1 }
      }
    }
    onThreads(2) { thread in for number in 0..<300 { center.post(topic, 300 * thread + number) } }
    #expect(wrong.all == [])
    #expect(numbers[0].all == numbers[1].all)
    #expect(numbers[0].all.count == 600)
  }
}
