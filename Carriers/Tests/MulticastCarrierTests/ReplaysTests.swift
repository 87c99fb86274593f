import NIOCore
import Testing

@testable import MulticastCarrier

/// How far the store has been read, in a time of its own.
@Suite struct ReplaysTests {
  private static let pause = TimeAmount.seconds(30)
  private var replays = Replays(pause: pause)
  private var now = NIODeadline.uptimeNanoseconds(1)

  private func page(
    _ offset: Int, epoch: String = "first", hasMore: Bool = false
  ) -> StoredPayloads {
    StoredPayloads([], end: .init(epoch: epoch, offset: "\(offset)"), hasMore: hasMore)
  }

  private mutating func next(_ type: String? = nil) -> Replays.Reading? {
    replays.next(at: now) { type == nil || $0 == type }
  }

  /// Reads what is due, which the store answers with a page. Returns from where, and whether the store began anew.
  private mutating func read(
    _ page: StoredPayloads, misses: Bool = false
  ) -> (after: String?, beganAnew: Bool)? {
    guard let reading = next() else { return nil }
    let beganAnew = replays.take(page, reading, misses: misses, at: now)
    return (reading.position?.offset, beganAnew)
  }

  private mutating func expectRead(
    _ page: StoredPayloads, misses: Bool = false, after: String?, beganAnew: Bool = false,
    at place: SourceLocation = #_sourceLocation
  ) {
    let result = read(page, misses: misses)
    #expect(result != nil && result?.after == after, sourceLocation: place)
    #expect(result?.beganAnew == beganAnew, sourceLocation: place)
  }

  /// Where it would read on.
  private mutating func place() throws -> String? {
    replays.ask("note")
    let next = next()
    let reading = try #require(next)
    _ = replays.take(page(1_000), reading, misses: false, at: now)
    return reading.position?.offset
  }

  @Test mutating func readsFromTheEndThatItFoundFirst() throws {
    let none = read(page(0))
    #expect(none == nil)
    let first = replays.ask("note")
    #expect(!replays.hasEnded(first, of: "note"))
    expectRead(page(7), after: nil)
    #expect(replays.hasEnded(first, of: "note"))
    let done = read(page(8))
    #expect(done == nil)

    // Page by page. What is asked for meanwhile is another reading.
    let second = replays.ask("note")
    expectRead(page(9, hasMore: true), after: "7")
    #expect(!replays.hasEnded(second, of: "note"))
    let third = replays.ask("note")
    expectRead(page(10), after: "9")
    #expect(replays.hasEnded(second, of: "note") && !replays.hasEnded(third, of: "note"))
    expectRead(page(10), after: "10")
    #expect(replays.hasEnded(third, of: "note"))
  }

  @Test mutating func movesOnToWhereTheStoreEndedAWhileAgo() throws {
    replays.ask("note")
    _ = read(page(7))
    now = now + Self.pause
    expectRead(page(20), after: nil)
    now = now + .seconds(29)
    let early = read(page(21))
    #expect(early == nil)
    now = now + .seconds(1)
    // Something is missing: it may be before the mark.
    expectRead(page(30), misses: true, after: nil)
    now = now + Self.pause
    expectRead(page(40), after: nil)
    let place = try place()
    #expect(place == "20")
  }

  @Test(arguments: [false, true])
  mutating func aMarkFromBeforeALossOfTheConnectionDoesNotCount(isUnderWay: Bool) throws {
    replays.ask("note")
    _ = read(page(7))
    now = now + Self.pause
    let next = next()
    let reading = try #require(next)
    if isUnderWay { replays.connect() }
    _ = replays.take(page(20), reading, misses: false, at: now)
    if !isUnderWay { replays.connect() }
    now = now + Self.pause
    _ = read(page(40))
    let place = try place()
    #expect(place == "7")
  }

  @Test mutating func tellsThatTheStoreBeganAnew() throws {
    replays.ask("note")
    _ = read(page(7))
    // A mark finds it, and all that the new store has is read.
    now = now + Self.pause
    expectRead(page(3, epoch: "second"), after: nil)
    expectRead(page(3, epoch: "second"), after: "7", beganAnew: true)
    let place = try place()
    #expect(place == "3")
  }

  @Test mutating func waitsForAnEngineThatDoesNotAnswerForAWhile() throws {
    let number = replays.ask("note")
    replays.ask("other")
    for count in 1...3 {
      let next = next("note")
      let reading = try #require(next)
      #expect(!replays.hasEnded(number, of: "note"))
      let isFirst = replays.fail(reading, at: now)
      #expect(isFirst == (count == 1))
      let paused = self.next("note")
      #expect(paused == nil)
      // Others are read meanwhile.
      let another = self.next()
      let other = try #require(another)
      #expect(other.type == "other")
      _ = replays.take(page(0), other, misses: false, at: now)
      replays.ask("other")
      now = now + .seconds(1)
    }
    // Nobody waits any longer, and it is read nevertheless.
    #expect(replays.hasEnded(number, of: "note"))
    expectRead(page(7), after: nil)
    let place = try place()
    #expect(place == "7")
  }

  /// A topic may be carried no longer while it is read.
  @Test mutating func readsOnAfterATopicIsForgotten() throws {
    replays.ask("note")
    let next = next()
    let reading = try #require(next)
    replays.forget("note")
    replays.ask("other")
    _ = replays.take(page(7), reading, misses: false, at: now)
    let another = self.next()
    #expect(another?.type == "other")
  }
}
