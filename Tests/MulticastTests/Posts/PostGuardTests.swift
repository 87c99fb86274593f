import Multicast
import TestSupport
import Testing

/// Posts and notifies inside of each other.
@Suite struct PostGuardTests {
  let owner = kept(Owner())
  let calls = Numbers()
  let reports = Reports()
  var center: MulticastCenter { reports.center }
  let journal = Journal()

  @Test func aNotifyInAPostsCallIsNested() {
    center.adding(Listener { number in journal.write("ping\(number)") })
    center.observe(Topic<Int>(), owner: owner) { _, number in
      journal.write("begin")
      center.notify(PingProtocol.self) { $0.ping(number) }
      journal.write("end")
    }
    center.post(Topic<Int>(), 1)
    #expect(journal.read() == "begin ping1 end")
    #expect(reports.all.isEmpty)
  }

  @Test func aPostInANotifyInAPostsCallFollows() {
    center.adding(
      Listener { number in
        center.post(Topic<String>(), "\(number)")
        journal.write("ping\(number)")
      })
    center.observe(Topic<String>(), owner: owner) { _, text in journal.write("text\(text)") }
    center.observe(Topic<Int>(), owner: owner) { _, number in
      center.notify(PingProtocol.self) { $0.ping(number) }
      journal.write("end")
    }
    center.post(Topic<Int>(), 1)
    #expect(journal.read() == "ping1 end text1")
    #expect(reports.all.isEmpty)
  }

  @Test func aPostInANotifysCallIsDeliveredInIt() {
    center.adding(
      Listener { number in
        center.post(Topic<Int>(), number)
        journal.write("ping\(number)")
      })
    center.observe(Topic<Int>(), owner: owner) { _, number in journal.write("int\(number)") }
    center.notify(PingProtocol.self) { $0.ping(1) }
    #expect(journal.read() == "int1 ping1")
  }

  /// A letter is its own first cause, also where somebody who is delivering handles it.
  @Test func aNotifyInALetterIsNotPartOfWhatHandlesIt() {
    let place = Place()
    @Sendable func notify(_ number: Int) { center.notify(PingProtocol.self) { $0.ping(number) } }
    center.adding(
      Listener { number in
        calls.add(number)
        // Enters the home where the letter waits.
        if number == 1 { center.post(Topic<String>(), "now") }
      })
    center.observe(Topic<Int>(), owner: owner, on: place.queue) { _, number in notify(number) }
    center.observe(Topic<String>(), owner: owner, on: place.queue) { _, _ in }
    place.queue.sync {
      onNewThread { center.post(Topic<Int>(), 2) }
      notify(1)
    }
    #expect(calls.all == [1, 2])
    #expect(reports.all.isEmpty)
  }

  @Test func aNotifyThatComesBackThroughAPostIsALoop() {
    @Sendable func notify(_ number: Int) { center.notify(PingProtocol.self) { $0.ping(number) } }
    center.adding(
      Listener { number in
        calls.add(number)
        if number < 5000 { center.post(Topic<Int>(), number + 1) }
      })
    center.observe(Topic<Int>(), owner: owner) { _, number in notify(number) }
    notify(0)
    #expect(calls.all == [0])
    #expect(reports.all.count == 1)
    #expect(reports.all.first?.isPost == false)
  }

  @Test func otherCentersPostsAreNestedAndTheOwnFollow() {
    let one = MulticastCenter()
    let two = MulticastCenter()
    one.observe(Topic<Int>(), owner: owner) { _, number in
      journal.write("one\(number)(")
      if number < 2 { two.post(Topic<Int>(), number + 1) }
      journal.write(")")
    }
    two.observe(Topic<Int>(), owner: owner) { _, number in
      journal.write("two\(number)(")
      one.post(Topic<Int>(), number + 1)
      journal.write(")")
    }
    one.post(Topic<Int>(), 0)
    #expect(journal.read() == "one0( two1( ) ) one2( )")
  }

  @Test func whatFollowsIsNotInsideOfWhatItFollows() {
    let center = MulticastCenter(reentrancy: .refuseNesting, onRecursion: reports.handler)
    center.adding(
      Listener { number in
        journal.write("ping\(number)")
        if number == 1 { center.post(Topic<Int>(), 2) }
      })
    center.observe(Topic<Int>(), owner: owner) { _, number in
      center.notify(PingProtocol.self) { $0.ping(number) }
    }
    // The calls of this post are over when the other one follows.
    center.post(PingProtocol.self) { $0.ping(1) }
    #expect(journal.read() == "ping1 ping2")
    #expect(reports.all.isEmpty)
  }

  @Test func aNotifyInWhatFollowsIsInsideOfThat() {
    let center = MulticastCenter(reentrancy: .refuseNesting, onRecursion: reports.handler)
    center.adding(
      Listener { number in
        journal.write("ping\(number)")
        if number == 1 { center.notify(PingProtocol.self) { $0.ping(2) } }
      })
    center.observe(Topic<Int>(), owner: owner) { _, number in
      center.post(PingProtocol.self) { $0.ping(number) }
    }
    center.post(Topic<Int>(), 1)
    #expect(journal.read() == "ping1")
    #expect(reports.all.count == 1)
  }

  @Test func postsThatRecurDoNotGrowTheStack() {
    let seen = Numbers()
    center.observe(Topic<Int>(), owner: owner) { _, number in
      // The address sanitizer keeps what has a known size outside of the stack.
      withUnsafeTemporaryAllocation(byteCount: 1 + min(number, 0), alignment: 1) {
        seen.add(Int(bitPattern: $0.baseAddress))
      }
      if number < 900 { center.post(Topic<Int>(), number + 1) }
    }
    center.post(Topic<Int>(), 0)
    #expect(Set(seen.all.dropFirst()).count == 1)
    #expect(seen.all.count == 901)
  }
}
