import Foundation
import Multicast
import TestSupport

@testable import MulticastFoundation

#if canImport(ObjectiveC)
  import ObjectiveC
#endif

/// The listener protocol of most tests.
protocol PowerProtocol {
  func powerChanged(_ level: Int)
}

/// A client that writes its calls into a journal, and can run a closure in them.
final class Client: PowerProtocol {
  private let name: String
  private let journal: Journal
  var onChange: ((Int) -> Void)?

  init(_ name: String, _ journal: Journal) {
    self.name = name
    self.journal = journal
  }

  func powerChanged(_ level: Int) {
    journal.write("\(name)\(level)")
    onChange?(level)
  }
}

/// A client for any thread, which counts its calls.
final class Counter: PowerProtocol, Sendable {
  private let number = Atomic<Int>(0)

  var calls: Int { number.load(ordering: .relaxed) }

  func powerChanged(_ level: Int) {
    number.wrappingAdd(1, ordering: .relaxed)
  }
}

@MainActor protocol ScreenProtocol {
  func show(_ level: Int)
}

/// A client of the main actor.
@MainActor final class Screen: ScreenProtocol {
  private let levels = Numbers()
  var shown: [Int] { levels.all }
  func show(_ level: Int) { levels.add(level) }

  /// Returns when `count` levels have been shown.
  func wait(for count: Int) async { await levels.wait(for: count) }
}

/// The message of most tests.
struct Power: Hashable, Sendable {
  let level: Int
}

extension Topic where Message == Power {
  static var power: Self { Topic("power") }
}

extension Notification.Name {
  static let power = Notification.Name("power")
  static let otherPower = Notification.Name("otherPower")
}

extension Notification {
  /// The level that ``NotificationCenter/postPower(_:as:object:)`` stores.
  var level: Int? { userInfo?["level"] as? Int }

  var power: Power? { level.map { Power(level: $0) } }
}

extension NotificationCenter {
  func postPower(_ level: Int, as name: Notification.Name = .power, object: Any? = nil) {
    post(name: name, object: object, userInfo: ["level": level])
  }
}

/// An object that sends notifications.
final class Sender: Sendable {}

/// An owner for handlers that run anywhere.
final class Owner: Sendable {}

extension MulticastCenter {
  /// Adds a client without a home, and retains it.
  @discardableResult
  func adding<Client: PowerProtocol>(_ client: Client) -> Client {
    self[PowerProtocol.self].add(kept(client), on: nil)
    return client
  }

  /// Adds a relay that calls clients with the level of each notification.
  @discardableResult
  func relayLevels(
    of name: Notification.Name = .power, from source: NotificationCenter,
    object: AnyObject? = nil, line: Int = #line
  ) -> NotificationRelay {
    relay(
      name, from: source, object: object, to: PowerProtocol.self, line: line, map: { $0.level }
    ) { $0.powerChanged($1) }
  }
}

extension Journal {
  func readLevels() -> [Int] { read().split(separator: " ").compactMap { Int($0) } }
}

extension AsyncStream<Power> {
  /// Returns the levels of the first `count` messages.
  func levels(_ count: Int) async -> [Int] {
    await prefix(count).reduce(into: []) { $0.append($1.level) }
  }
}

/// A variable for any thread. A closure can read it although it is set after the closure has been created.
final class Slot<Value: Sendable>: Sendable {
  private let contents = Locked<Value?>(nil)

  var value: Value? {
    get { contents.withLock { $0 } }
    set { contents.withLock { $0 = newValue } }
  }
}

/// Shows whether Foundation still retains a relay's observer after the relay's tokens are released.
final class RelayTrace: @unchecked Sendable {
  // Unchecked, because a weak reference is a variable. It is not changed after `init`.
  //
  // The block that Foundation retains is the last owner of the status.
  private weak var status: AtomicWord?

  init(_ relay: NotificationRelay) {
    status = relay.status.state.object
  }

  var isObserving: Bool { status != nil }
}

/// Runs `body`, and releases the objects that Foundation autoreleases in it.
///
/// On Apple's platforms, `addObserver(forName:)` may leave its token, and with it the block, in an
/// autorelease pool. A test that checks whether a relay's block is released has to drain the pool first.
func drained<Result>(_ body: () -> Result) -> Result {
  #if canImport(ObjectiveC)
    autoreleasepool(invoking: body)
  #else
    body()
  #endif
}
