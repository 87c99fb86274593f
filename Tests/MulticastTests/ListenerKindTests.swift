import Multicast
import TestSupport
import Testing

private protocol BoundProtocol: AnyObject {
  func ping(_ number: Int)
}
private protocol OtherProtocol {
  func other()
}
private protocol SinkProtocol<Value> {
  associatedtype Value
  func take(_ value: Value)
}
private protocol FailureProtocol: Error {
  func ping(_ number: Int)
}
@MainActor private protocol ScreenProtocol {
  func show(_ number: Int)
}

/// Rule 8 of the contract: any protocol, whatever its existentials look like in memory.
@Suite struct ListenerKindTests {
  /// A client of everything, with a field that tells whether it was called on itself.
  private class Everything:
    PingProtocol, BoundProtocol, OtherProtocol, SinkProtocol, FailureProtocol, @unchecked Sendable
  {
    var numbers: [Int] = []
    func ping(_ number: Int) { numbers.append(number) }
    func other() { numbers.append(-1) }
    func take(_ value: Int) { numbers.append(value) }
  }

  private final class Derived: Everything, @unchecked Sendable {}

  private let client = Everything()
  let center = MulticastCenter()

  /// Adds the client, notifies, releases another client, and looks that only the first is left.
  private func check<Listener>(
    _ listener: Listener.Type, _ cast: (Everything) -> Listener, _ call: (Listener) -> Void
  ) {
    do {
      let other = Derived()
      #expect(center.add(cast(other), for: listener))
      #expect(center.add(cast(client), for: listener))
      #expect(!center.add(cast(client), for: listener))
      #expect(center.notify(listener, call) == 2)
      #expect(other.numbers.count == 1)
    }
    #expect(center.notify(listener, call) == 1)
    #expect(client.numbers.count == 2)
    #expect(center.clients(for: listener).count == 1)
    #expect(center.contains(cast(client), for: listener))
    #expect(center.remove(cast(client), for: listener))
    #expect(center.notify(listener, call) == 0)
  }

  @Test func anyProtocol() { check(PingProtocol.self, { $0 }, { $0.ping(1) }) }

  @Test func aClassBoundProtocol() { check(BoundProtocol.self, { $0 }, { $0.ping(1) }) }

  @Test func aComposition() {
    check((PingProtocol & OtherProtocol).self, { $0 }, { $0.other() })
  }

  @Test func aCompositionWithAClassBoundProtocol() {
    check((BoundProtocol & OtherProtocol).self, { $0 }, { $0.other() })
  }

  @Test func aCompositionWithAClass() {
    check((Everything & OtherProtocol).self, { $0 }, { $0.other() })
  }

  @Test func aConstrainedProtocol() {
    check((any SinkProtocol<Int>).self, { $0 }, { $0.take(1) })
  }

  @Test func aProtocolWithAnAssociatedTypeLeftOpen() {
    check((any SinkProtocol).self, { $0 }, { ($0 as? Everything)?.take(1) })
  }

  @Test func aProtocolOfErrors() { check(FailureProtocol.self, { $0 }, { $0.ping(1) }) }

  @Test func aClass() { check(Everything.self, { $0 }, { $0.ping(1) }) }

  @Test func anyObject() { check(AnyObject.self, { $0 }, { ($0 as? Everything)?.ping(1) }) }

  @Test func anything() { check(Any.self, { $0 }, { ($0 as? Everything)?.ping(1) }) }

  @Test func constraintsMakeListsOfTheirOwn() {
    center.add(client, for: (any SinkProtocol<Int>).self)
    #expect(center.clients(for: (any SinkProtocol<String>).self).isEmpty)
    #expect(center.clients(for: (any SinkProtocol).self).isEmpty)
  }

  @Test func oneObjectMayListenToManyProtocols() {
    center.add(client, for: PingProtocol.self)
    center.add(client, for: BoundProtocol.self)
    center.notify(PingProtocol.self) { $0.ping(1) }
    center.notify(BoundProtocol.self) { $0.ping(2) }
    #expect(client.numbers == [1, 2])
  }

  @Test func anActorWithNonisolatedMethods() {
    actor Account: PingProtocol {
      nonisolated let counter = Counter()
      nonisolated func ping(_ number: Int) { counter.ping(number) }
    }
    let account = kept(Account())
    center.add(account, for: PingProtocol.self)
    #expect(center.notify(PingProtocol.self) { $0.ping(1) } == 1)
    #expect(account.counter.calls == 1)
  }

  @Test @MainActor func aProtocolOfTheMainActor() {
    final class Screen: ScreenProtocol {
      var shown: [Int] = []
      func show(_ number: Int) { shown.append(number) }
    }
    let screen = kept(Screen())
    center.add(screen, for: ScreenProtocol.self)
    center.notify(ScreenProtocol.self) { $0.show(1) }
    #expect(screen.shown == [1])
  }

  @Test func aGenericWrapperUsesTheSameList() {
    func add<Listener>(_ client: Listener, to listener: Listener.Type) -> Bool {
      center.add(client, for: listener)
    }
    #expect(add(client, to: PingProtocol.self))
    #expect(center.contains(client, for: PingProtocol.self))
    #expect(center.notify(PingProtocol.self) { $0.ping(1) } == 1)
  }
}

/// Rule 8 of the contract: a value stops the program, in release builds too, and says why.
@Suite struct ValueClientTests {
  private struct Value: PingProtocol {
    func ping(_ number: Int) {}
  }

  private static let reason = "only class instances and actors can be held weakly"

  @Test func aStructStopsTheProgram() async {
    let result = await #expect(processExitsWith: .crash, observing: .errors) {
      MulticastCenter().add(Value(), for: PingProtocol.self)
    }
    #expect(text(result).contains("a client of type Value cannot listen to PingProtocol"))
    #expect(text(result).contains(Self.reason))
  }

  @Test func anEnumStopsTheProgramInADelegateToo() async {
    enum Direction: PingProtocol {
      case up
      func ping(_ number: Int) {}
    }
    let result = await #expect(processExitsWith: .crash, observing: .errors) {
      MulticastDelegate<any PingProtocol>().add(Direction.up)
    }
    #expect(text(result).contains("a client of type Direction"))
    #expect(text(result).contains(Self.reason))
  }

  @Test func nilStopsTheProgram() async {
    let result = await #expect(processExitsWith: .crash, observing: .errors) {
      MulticastDelegate<Counter?>().add(nil)
    }
    #expect(text(result).contains("a client of type Optional<Counter>"))
  }

  @Test func aClosureStopsTheProgramAndIsToldToObserveATopic() async {
    let result = await #expect(processExitsWith: .crash, observing: .errors) {
      MulticastDelegate<(Int) -> Void>().add({ _ in })
    }
    #expect(text(result).contains("Observe a topic with the closure instead"))
  }

  @Test func removingAndLookingForAValueStopTheProgramToo() async {
    await #expect(processExitsWith: .crash) {
      MulticastDelegate<any PingProtocol>().remove(Value())
    }
    await #expect(processExitsWith: .crash) {
      _ = MulticastDelegate<any PingProtocol>().contains(Value())
    }
  }

  @Test func aValueStopsTheProgramWhereNobodyUsesTheProtocolToo() async {
    await #expect(processExitsWith: .crash) {
      MulticastCenter().remove(Value(), for: PingProtocol.self)
    }
    await #expect(processExitsWith: .crash) {
      _ = MulticastCenter().contains(Value(), for: PingProtocol.self)
    }
  }

  @Test func theErrorExistentialStopsTheProgramAndSaysWhatToDo() async {
    let result = await #expect(processExitsWith: .crash, observing: .errors) {
      final class Failure: Error {}
      MulticastDelegate<any Error>().add(Failure())
    }
    #expect(text(result).contains("Error cannot be a listener protocol"))
    #expect(text(result).contains("inherits from Error"))
  }
}
