import Multicast
import TestSupport
import Testing

extension Topic where Message == Int {
  nonisolated fileprivate static var number: Self { Topic("mode 5") }
}

/// Isolated to the main actor by default, without an annotation, as in a new app.
private final class Screen {
  private(set) var shown: [Int] = []

  init(_ center: MulticastCenter) {
    center.observe(.number, owner: self, Screen.show)
    center.observe(.number, owner: self, Screen.load)
  }

  func show(_ number: Int) {
    MainActor.assertIsolated()
    shown.append(number)
  }

  @MainActor func load(_ number: Int) {
    MainActor.assertIsolated()
    shown.append(-number)
  }
}

nonisolated private final class Log: Sendable {
  let numbers = Numbers()

  init(_ center: MulticastCenter) { center.observe(.number, owner: self, Log.write) }
  func write(_ number: Int) { numbers.add(number) }
}

/// Methods as handlers in language mode 5, where a method's type does not include an actor that is inferred.
@Suite struct MethodTests {
  let center = MulticastCenter()

  private var homes: [String] {
    center.wiring.topics.flatMap(\.listeners).flatMap { Array(repeating: $0.home, count: $0.count) }
  }

  @Test func aMethodOfTheMainActorIsCalledOnTheMainActor() async {
    let screen = Screen(center)
    #expect(homes == ["MainActor", "MainActor"])
    let center = center
    await Task.detached { _ = await center.post(.number, 1).delivered() }.value
    #expect(screen.shown == [1, -1])
  }

  @Test func aMethodOfNoActorIsCalledOnThePostingThread() {
    let log = Log(center)
    #expect(homes == ["posting thread"])
    center.post(.number, 1)
    #expect(log.numbers.all == [1])
  }
}
