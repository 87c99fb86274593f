import Multicast
import TestSupport
import Testing

extension Topic where Message == Int {
  fileprivate static var number: Self { Topic("method") }
  fileprivate static var state: Self { Topic("method's state", keepsLatest: true) }
}

@MainActor private final class Label {
  var shown: [Int] = []

  init(_ center: MulticastCenter) {
    center.observe(.number, owner: self, Label.show)
    center.observe(.state, owner: self, Label.show)
  }

  func show(_ number: Int) { shown.append(number) }
}

private class Base: @unchecked Sendable {
  let numbers = Numbers()
  func take(_ number: Int) { numbers.add(number) }
}

private final class Derived: Base, @unchecked Sendable {
  override func take(_ number: Int) { numbers.add(-number) }
}

/// Handlers that are methods of their owners.
@Suite struct MethodHandlerTests {
  let center = MulticastCenter()

  @Test func aMethodOfTheMainActorIsCalledThere() async {
    let label = await Label(center)
    await center.post(.number, 1).delivered()
    await center.post(.state, 2).delivered()
    await #expect(label.shown == [1, 2])
    #expect(center.wiring.topics.flatMap(\.listeners).map(\.home) == ["MainActor", "MainActor"])
  }

  @Test func nothingKeepsTheOwner() async {
    weak var weakLabel: Label?
    do {
      let label = await Label(center)
      await center.post(.number, 1).delivered()
      weakLabel = label
    }
    await center.settled()
    #expect(weakLabel == nil)
  }

  @Test func aMethodIsOverridden() {
    let derived = Derived()
    center.observe(.number, owner: derived, Base.take)
    center.post(.number, 1)
    #expect(derived.numbers.all == [-1])
  }

  @Test func aMethodOfNoActorIsCalledWhereItIsPosted() {
    let base = Base()
    center.observe(.number, owner: base, Base.take)
    center.observe(.state, owner: base, Base.take)
    center.post(.number, 1)
    center.post(.state, 2)
    #expect(base.numbers.all == [1, 2])
    #expect(
      center.wiring.topics.flatMap(\.listeners).map(\.home) == ["posting thread", "posting thread"])
  }

  @Test func aMethodReplacesAClosureUnderItsID() {
    let base = Base()
    center.observe(.number, owner: base, id: 1) { base, number in base.numbers.add(number + 100) }
    center.observe(.number, owner: base, id: 1, Base.take)
    #expect(center.post(.number, 1).clients == 1)
    center.observe(.number, owner: base, id: 1) { base, number in base.numbers.add(number + 100) }
    #expect(center.post(.number, 2).clients == 1)
    center.observe(.number, owner: base, id: 1, once: true, Base.take)
    for number in 3...4 { center.post(.number, number) }
    #expect(base.numbers.all == [1, 102, 3])
  }
}
