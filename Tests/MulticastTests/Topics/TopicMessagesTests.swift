import Multicast
import TestSupport
import Testing

@Suite struct TopicMessagesTests {
  let center = MulticastCenter()

  /// The first messages of a loop over a sequence.
  func first(_ count: Int, of messages: AsyncStream<Int>) async -> [Int] {
    var received: [Int] = []
    for await message in messages {
      received.append(message)
      if received.count == count { break }
    }
    return received
  }

  @Test func messagesComeInOrderFromTheMomentTheSequenceIsMade() async {
    center.post(Topic<Int>(), 0)
    let messages = center.messages(of: Topic<Int>())
    for number in 1...5 { #expect(center.post(Topic<Int>(), number).clients == 1) }
    #expect(await first(5, of: messages) == [1, 2, 3, 4, 5])
  }

  @Test func whoLeavesTheLoopOrDropsItsSequenceEndsItsRegistration() async {
    do {
      let messages = center.messages(of: Topic<Int>())
      center.post(Topic<Int>(), 1)
      #expect(await first(1, of: messages) == [1])
    }
    #expect(center.post(Topic<Int>(), 2).clients == 0)
    do {
      let messages = center.messages(of: Topic<Int>())
      #expect(center.post(Topic<Int>(), 3).clients == 1)
      extendLifetime(messages)
    }
    #expect(center.post(Topic<Int>(), 4).clients == 0)
    do {
      var iterator = center.messages(of: Topic<Int>()).makeAsyncIterator()
      center.post(Topic<Int>(), 5)
      #expect(await iterator.next() == 5)
    }
    #expect(center.post(Topic<Int>(), 6).clients == 0)
  }

  @Test func cancellingTheTaskEndsTheLoop() async {
    let messages = kept(center.messages(of: Topic<Int>()))
    let received = Numbers()
    let loop = Task { for await message in messages { received.add(message) } }
    center.post(Topic<Int>(), 1)
    await received.wait(for: 1)
    loop.cancel()
    await loop.value
    #expect(received.all == [1])
    // The sequence is held here still, but the loop's registration is gone.
    #expect(center.post(Topic<Int>(), 2).clients == 0)
  }

  @Test func aLoopThatIsCancelledEndsItsRegistrationEvenIfItsIteratorIsKept() async {
    let isCancelled = Signal()
    let task = Task {
      let iterator = center.messages(of: Topic<Int>()).makeAsyncIterator()
      var other = iterator
      await isCancelled.wait()
      #expect(await other.next() == nil)
      #expect(center.post(Topic<Int>(), 1).clients == 0)
      extendLifetime(iterator)
    }
    task.cancel()
    isCancelled.send()
    await task.value
  }

  @Test func boundedBuffersKeepTheNewestOrTheOldest() async {
    let newest = center.messages(of: Topic<Int>(), buffering: .bufferingNewest(2))
    let oldest = center.messages(of: Topic<Int>(), buffering: .bufferingOldest(2))
    for number in 1...5 { center.post(Topic<Int>(), number) }
    #expect(await first(2, of: newest) == [4, 5])
    #expect(await first(2, of: oldest) == [1, 2])
  }

  @Test func aLoopEndsWhenObserversAreRemovedAfterWhatItWasSent() async {
    let messages = center.messages(of: Topic<Int>())
    center.post(Topic<Int>(), 1)
    center.removeObservers(of: Topic<Int>())
    var received: [Int] = []
    for await message in messages { received.append(message) }
    #expect(received == [1])
  }

  @Test func aLoopEndsWithTheCenterAndDoesNotKeepIt() async {
    var center = Optional(MulticastCenter())
    weak var reference: MulticastCenter?
    reference = center
    let messages = center!.messages(of: Topic<Int>())
    center?.post(Topic<Int>(), 1)
    center = nil
    #expect(reference == nil)
    var received: [Int] = []
    for await message in messages { received.append(message) }
    for await message in messages { received.append(message) }
    #expect(received == [1])
  }
}
