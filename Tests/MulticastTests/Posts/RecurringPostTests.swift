import Multicast
import Synchronization
import TestSupport
import Testing

/// Rule 16 of the contract: a post may recur a thousand times.
@Suite struct RecurringPostTests {
  let calls = Numbers()
  let place = Place()
  let reports = Reports()
  var center: MulticastCenter { reports.center }
  let owner = kept(Owner())

  @Test func inOneHomeAThousandPostsRecur() async throws {
    let refused = Signal()
    @Sendable func post(_ number: Int) -> Int { center.post(Topic<Int>(), number) }
    center.observe(Topic<Int>(), owner: owner, on: place.queue) { _, number in
      calls.add(number)
      if post(number + 1) == 0 { refused.send() }
    }
    #expect(post(0) == 1)
    await refused.wait()
    #expect(calls.all == Array(0...1000))
    #expect(reports.all.count == 1)
    let report = try #require(reports.all.first)
    #expect(report.isPost)
    #expect(report.key == "Topic<Int>()")
    #expect(report.path.count == 1002)
    #expect(Set(report.path).count == 1)
  }

  @Test func acrossTwoHomesAThousandPostsRecur() async throws {
    let one = Place("one")
    let two = Place("two")
    let refused = Signal()
    center.observe(Topic<Int>("one"), owner: owner, on: one.queue) { _, number in
      calls.add(number)
      if center.post(Topic<Int>("two"), number + 1) == 0 { refused.send() }
    }
    center.observe(Topic<Int>("two"), owner: owner, on: two.queue) { _, number in
      calls.add(number)
      if center.post(Topic<Int>("one"), number + 1) == 0 { refused.send() }
    }
    center.post(Topic<Int>("one"), 0)
    await refused.wait()
    // The first post of each of the two call sites does not recur.
    #expect(calls.all == Array(0...1002))
    #expect(reports.all.count == 1)
    let report = try #require(reports.all.first)
    #expect(report.isPost)
    #expect(report.path.count == 1004)
    #expect(Set(report.path).count == 3)
  }

  @Test func handlersThatAwaitRecurAsWell() async throws {
    let refused = Signal()
    center.observe(Topic<Int>("one"), owner: owner) { _, number in
      await Task.yield()
      calls.add(number)
      if center.post(Topic<Int>("two"), number + 1) == 0 { refused.send() }
    }
    center.observe(Topic<Int>("two"), owner: owner) { _, number in
      await Task.yield()
      calls.add(number)
      if center.post(Topic<Int>("one"), number + 1) == 0 { refused.send() }
    }
    center.post(Topic<Int>("one"), 0)
    await refused.wait()
    #expect(calls.all == Array(0...1002))
    #expect(reports.all.count == 1)
    #expect(reports.all.first?.isPost == true)
  }

  @Test func postsThroughTwoCentersRecur() async {
    let one = center
    let two = MulticastCenter(onRecursion: reports.handler)
    let places = (Place("one"), Place("two"))
    let ended = Signal()
    one.observe(Topic<Int>(), owner: owner, on: places.0.queue) { _, number in
      calls.add(number)
      // If nothing is refused, this ends it.
      if number > 5000 || two.post(Topic<Int>(), number + 1) == 0 { ended.send() }
    }
    two.observe(Topic<Int>(), owner: owner, on: places.1.queue) { _, number in
      calls.add(number)
      if one.post(Topic<Int>(), number + 1) == 0 { ended.send() }
    }
    one.post(Topic<Int>(), 0)
    await ended.wait()
    #expect(calls.all.count < 2100)
    #expect(reports.all.count == 1)
  }

  @Test func aPostInsideOfAnotherCentersPostRecurs() {
    let one = center
    let two = MulticastCenter(onRecursion: reports.handler)
    one.observe(Topic<Int>(), owner: owner) { _, number in
      calls.add(number)
      if number < 5000 { two.post(Topic<Int>(), number + 1) }
    }
    two.observe(Topic<Int>(), owner: owner) { _, number in one.post(Topic<Int>(), number + 1) }
    one.post(Topic<Int>(), 0)
    #expect(calls.all.count < 2100)
    #expect(reports.all.count == 1)
  }

  @Test func messagesEndAsTheyWereHandled() {
    let alive = Atomic<Int>(0)
    let most = Locked(0)
    final class Message: Sendable {
      let number: Int
      let sentinel: Sentinel
      init(_ number: Int, _ sentinel: Sentinel) {
        self.number = number
        self.sentinel = sentinel
      }
    }
    @Sendable func post(_ number: Int) {
      let count = alive.add(1, ordering: .relaxed).newValue
      most.withLock { $0 = max($0, count) }
      let sentinel = Sentinel { alive.subtract(1, ordering: .relaxed) }
      center.post(Topic<Message>(), Message(number, sentinel))
    }
    center.observe(Topic<Message>(), owner: owner) { _, message in
      if message.number < 900 { post(message.number + 1) }
    }
    post(0)
    #expect(alive.load(ordering: .relaxed) == 0)
    #expect(most.withLock { $0 } < 5)
    #expect(reports.all.isEmpty)
  }

  @Test func aPostIsNotCountedWithWhatOthersSetOff() async {
    center.observe(Topic<Int>(), owner: owner, on: place.queue) { _, number in
      if number > 0 { center.post(Topic<Int>(), number - 1) }
    }
    for _ in 0..<20 { center.post(Topic<Int>(), 900) }
    await center.postAndWait(Topic<Int>(), 0)
    while place.queue.sync(execute: { center.post(Topic<Int>("none"), 0) }) > 0 {}
    #expect(reports.all.isEmpty)
  }
}
