// The program of the page "Testing code that uses a center", block by block.

import Foundation
import Multicast
import MulticastTesting
import Testing

nonisolated struct Mail: Sendable {
  let count: Int
}

nonisolated extension Topic where Message == Mail {
  static var mail: Self { Topic("mail") }
}

@MainActor final class Inbox {
  private let center: MulticastCenter
  private(set) var unread = 0

  init(center: MulticastCenter = .current) {
    self.center = center
    center.observe(.mail, owner: self, Inbox.add)
  }

  private func add(_ mail: Mail) { unread += mail.count }

  func refresh() {  // returns before it has posted
    Task { center.post(.mail, Mail(count: 3)) }
  }
}

@Test(.ownCenter) @MainActor
func aRefreshIsCounted() async throws {
  let center = MulticastCenter.current
  let mails = TopicRecorder(center, .mail)
  let inbox = Inbox()

  inbox.refresh()
  // The task has posted.
  #expect(try await mails.next().count == 3)
  // Every handler has run.
  await center.settled()

  #expect(inbox.unread == 3)
}

@Test(.ownCenter) @MainActor
func aRefreshPostsOnce() async throws {
  let mails = TopicRecorder(
    .current, .mail, exhaustive: true)
  let inbox = Inbox()

  inbox.refresh()
  #expect(try await mails.next().count == 3)
  await MulticastCenter.current.settled()

  #expect(inbox.unread == 3)
}

@Test(.ownCenter) @MainActor
func aRefreshReachesTheInbox() async throws {
  let deliveries = DeliveryRecorder(.current)
  let inbox = Inbox()

  inbox.refresh()
  let delivery = try await deliveries.next(.mail)

  #expect(delivery.clients == 1 && !delivery.isRefused)
  extendLifetime(inbox)
}

nonisolated extension Topic where Message == Int {
  static var added: Self { Topic("added") }
  static var percentOff: Self { Topic("percentOff") }
}

actor Loyalty {
  private let center: MulticastCenter

  init(center: MulticastCenter) { self.center = center }

  func begin() {
    center.observe(.added, owner: self, once: true) {
      (me: isolated Loyalty, _) in
      me.center.post(.percentOff, 10)
    }
  }
}

@MainActor final class Cart {
  private var sum = 0
  private var percentOff = 0
  var total: Int { sum - sum * percentOff / 100 }

  init(center: MulticastCenter = .current) {
    center.observe(.added, owner: self) {
      me, price in me.sum += price
    }
    center.observe(.percentOff, owner: self) {
      me, percent in me.percentOff = percent
    }
  }
}

@Test func theTotalIsRightInEveryOrder() async throws {
  try await Interleavings.explore(runs: 100) { center in
    let loyalty = Loyalty(center: center)
    let cart = await Cart(center: center)
    await loyalty.begin()

    center.post(.added, 100)
    // Homes may handle letters here.
    await Interleavings.step()
    center.post(.added, 50)
    await center.settled()

    let total = await cart.total
    #expect(total == 135)
    extendLifetime(loyalty)
  }
}

nonisolated protocol UserProtocol {
  func userLogin(_ id: UInt)
}

nonisolated final class UserSpy: UserProtocol {
  private(set) var logins: [UInt] = []
  func userLogin(_ id: UInt) { logins.append(id) }
}

@Test(.ownCenter) func aLoginReachesTheSpy() {
  let center = MulticastCenter.current
  let spy = UserSpy()
  center.add(spy, for: UserProtocol.self)

  center.notify(UserProtocol.self) { $0.userLogin(19000) }

  #expect(spy.logins == [19000])
}

nonisolated func checkedCenter() -> MulticastCenter {
  .recordable(onRecursion: { report in
    Issue.record(report)
  })
}

nonisolated final class Repeater: UserProtocol {
  let center: MulticastCenter
  init(center: MulticastCenter) { self.center = center }
  func userLogin(_ id: UInt) {  // loops
    center.notify(UserProtocol.self) { $0.userLogin(id) }
  }
}

@Test func aLoopIsReported() async {
  await confirmation { reported in
    let center = MulticastCenter(onRecursion: { report in
      // The call site, twice.
      #expect(report.path.count == 2)
      reported()
    })
    let repeater = Repeater(center: center)
    defer { extendLifetime(repeater) }
    center.add(repeater, for: UserProtocol.self)

    repeater.userLogin(19000)
  }
}

@Test(.ownCenter) @MainActor
func aDeallocatedInboxLeavesNoHandler() {
  let before = MulticastCenter.current.wiring

  _ = Inbox()

  #expect(MulticastCenter.current.wiring == before)
}

@Test @MainActor func anInboxDoesNotLeak() async throws {
  let center = MulticastCenter()
  center.observe(.mail, owner: Inbox(center: center)) {
    _, _ in
  }

  try await center.expectNoLeaks()
}

import XCTest

nonisolated final class InboxTests: XCTestCase {
  @MainActor func testAnInboxDoesNotLeak() async throws {
    let center = MulticastCenter()
    do {
      let inbox = Inbox(center: center)
      center.post(.mail, Mail(count: 3))
      XCTAssertEqual(inbox.unread, 3)
    }
    // Here, the test no longer holds the inbox.
    try await center.expectNoLeaks()
  }
}

nonisolated struct Preferences: UserProtocol {
  func userLogin(_ id: UInt) {}
}

@Test func aValueCannotBeAClient() async {
  await #expect(processExitsWith: .failure) {
    let center = MulticastCenter()
    center.add(
      Preferences(), for: UserProtocol.self,
      isolation: nil)
  }
}

// What the page says of it.

@MainActor private final class HastyCart {
  private(set) var sum = 0

  init(center: MulticastCenter) {
    center.observe(.added, owner: self) { me, price in me.sum += price }
    center.observe(.percentOff, owner: self) { me, percent in me.sum -= me.sum * percent / 100 }
  }
}

@Suite struct TestingPageTests {
  private struct WrongTotal: Error {}

  /// A function, because posts inside `#expect` would all have the call site of the macro.
  @Sendable private func buy(_ center: MulticastCenter) async throws {
    let (loyalty, cart) = (Loyalty(center: center), await HastyCart(center: center))
    await loyalty.begin()
    center.post(.added, 100)
    await Interleavings.step()
    center.post(.added, 50)
    await center.settled()
    extendLifetime(loyalty)
    if await cart.sum != 135 { throw WrongTotal() }
  }

  @Test func anExplorationFindsTheMistakeOfTheHastyCart() async throws {
    let failure = try await #require(throws: Interleavings.Failure.self) {
      try await Interleavings.explore(runs: 100, buy)
    }
    #expect(failure.seed == 1)
    // The page shows this order, and wraps lines for narrow windows.
    let page = try Self.page.withoutSpaces
    #expect(failure.letters.count == 4)
    for letter in failure.letters {
      let parts = letter.replacingOccurrences(of: "HastyCart", with: "Cart").components(
        separatedBy: #fileID)
      let home = try #require(parts[1].firstIndex(of: ",").map { String(parts[1][$0...]) })
      #expect(page.contains((parts[0] + "ShopTests/CartTests.swift:").withoutSpaces))
      #expect(page.contains(home.withoutSpaces))
    }
  }

  private static var page: String {
    get throws {
      let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      return try String(
        contentsOf: root.appendingPathComponent(
          "Sources/Multicast/Multicast.docc/Articles/Testing.md"), encoding: .utf8)
    }
  }

  @Test func thePageShowsThisProgram() throws {
    let page = try Self.page
    let program = try String(contentsOfFile: #filePath, encoding: .utf8)
    let blocks = page.components(separatedBy: "```swift\n").dropFirst(2)
      .compactMap { $0.components(separatedBy: "```").first }
    #expect(blocks.count == 12)
    // The page wraps lines for narrow windows.
    for block in blocks where !program.withoutSpaces.contains(block.withoutSpaces) {
      Issue.record("The program lacks this block of the page:\n\(block)")
    }
  }
}

extension String {
  fileprivate var withoutSpaces: String { filter { !$0.isWhitespace } }
}
