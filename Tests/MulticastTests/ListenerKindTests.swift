import Multicast
import TestSupport
import Testing

private protocol BoundProtocol: AnyObject {
  func ping(_ number: Int)
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

/// Rule 8 of the contract: any protocol, whatever the memory layout of its existentials.
@Suite struct ListenerKindTests {
  /// A client of all protocols. It stores the numbers, so that the test sees that `self` was right.
  private class Everything:
    PingProtocol, PongProtocol, BoundProtocol, SinkProtocol, FailureProtocol, @unchecked Sendable
  {
    var numbers: [Int] = []
    func ping(_ number: Int) { numbers.append(number) }
    func pong(_ number: Int) { numbers.append(number) }
    func take(_ value: Int) { numbers.append(value) }
  }

  private final class Derived: Everything, @unchecked Sendable {}

  let center = MulticastCenter()

  /// Adds two clients, notifies them, releases one, and checks that only the other one is left.
  private func check<Listener>(
    _ listener: Listener.Type, _ cast: (Everything) -> Listener, _ call: (Listener) -> Void
  ) {
    let client = Everything()
    do {
      let other = Derived()
      #expect(center.add(cast(other), for: listener))
      #expect(center.add(cast(client), for: listener))
      #expect(!center.add(cast(client), for: listener))
      #expect(center.notify(listener, call) == 2)
      #expect(other.numbers == [1], "\(listener)")
    }
    #expect(center.notify(listener, call) == 1)
    #expect(client.numbers == [1, 1], "\(listener)")
    #expect(center[listener].clients.count == 1)
    #expect(center.contains(cast(client), for: listener))
    #expect(center.remove(cast(client), for: listener))
    #expect(center.notify(listener, call) == 0, "\(listener)")
  }

  /// The value of a class's metatype may be a subclass. Then the key is the class that the compiler sees, of which all clients are.
  @Test func theKeyOfAClassIsThatOfItsVariable() {
    let (client, derived) = (Everything(), Derived())
    let key: Everything.Type = Derived.self
    #expect(center.add(client, for: key))
    #expect(center.add(derived, for: Derived.self))
    #expect(center.notify(Derived.self) { $0.ping(1) } == 1)
    #expect(center.notify(key) { $0.ping(2) } == 1)
    #expect(derived.numbers == [1] && client.numbers == [2])
    #expect(center.contains(client, for: Everything.self))
  }

  @Test func clientsOfAnyProtocolAndAnyClassAreCalled() {
    check(PingProtocol.self, { $0 }, { $0.ping(1) })
    check(BoundProtocol.self, { $0 }, { $0.ping(1) })
    check((PingProtocol & PongProtocol).self, { $0 }, { $0.pong(1) })
    check((BoundProtocol & PongProtocol).self, { $0 }, { $0.pong(1) })
    check((Everything & PongProtocol).self, { $0 }, { $0.pong(1) })
    check((any SinkProtocol<Int>).self, { $0 }, { $0.take(1) })
    check((any SinkProtocol).self, { $0 }, { ($0 as? Everything)?.take(1) })
    check(FailureProtocol.self, { $0 }, { $0.ping(1) })
    check(Everything.self, { $0 }, { $0.ping(1) })
    check(AnyObject.self, { $0 }, { ($0 as? Everything)?.ping(1) })
    check(Any.self, { $0 }, { ($0 as? Everything)?.ping(1) })
  }

  @Test func eachConstraintOfAProtocolHasItsOwnList() {
    center.add(kept(Everything()), for: (any SinkProtocol<Int>).self)
    #expect(center[(any SinkProtocol<String>).self].clients.isEmpty)
    #expect(center[(any SinkProtocol).self].clients.isEmpty)
  }

  @Test @MainActor func anActorAndAClientOfAMainActorProtocolAreCalled() {
    actor Account: PingProtocol {
      nonisolated let counter = Counter()
      nonisolated func ping(_ number: Int) { counter.ping(number) }
    }
    let account = kept(Account())
    center.add(account, for: PingProtocol.self)
    #expect(center.notify(PingProtocol.self) { $0.ping(1) } == 1)
    #expect(account.counter.calls == 1)
    final class Screen: ScreenProtocol {
      var shown: [Int] = []
      func show(_ number: Int) { shown.append(number) }
    }
    let screen = kept(Screen())
    center.add(screen, for: ScreenProtocol.self)
    center.notify(ScreenProtocol.self) { $0.show(1) }
    #expect(screen.shown == [1])
  }
}

/// Rule 8 of the contract: a value as a client stops the program with a message, even in a release build.
@Suite struct ValueClientTests {
  private struct Value: PingProtocol {
    func ping(_ number: Int) {}
  }

  @Test func addingAValueStopsTheProgram() async {
    enum Direction: PingProtocol {
      case up
      func ping(_ number: Int) {}
    }
    let value = await #expect(processExitsWith: .crash, observing: .errors) {
      MulticastCenter().add(Value(), for: PingProtocol.self)
    }
    #expect(text(value).contains("a client of type Value cannot listen to PingProtocol"))
    #expect(text(value).contains("only class instances and actors can be held weakly"))
    let direction = await #expect(processExitsWith: .crash, observing: .errors) {
      MulticastDelegate<any PingProtocol>().add(Direction.up)
    }
    #expect(text(direction).contains("a client of type Direction"))
    // A wrapper may pass a wrong line. The message must not end with an error of its own.
    let line = await #expect(processExitsWith: .crash, observing: .errors) {
      MulticastCenter().add(Value(), for: PingProtocol.self, line: -1)
    }
    #expect(text(line).contains("a client of type Value cannot listen to PingProtocol"))
    let none = await #expect(processExitsWith: .crash, observing: .errors) {
      MulticastDelegate<Counter?>().add(nil)
    }
    #expect(text(none).contains("a client of type Optional<Counter>"))
    let closure = await #expect(processExitsWith: .crash, observing: .errors) {
      MulticastDelegate<(Int) -> Void>().add({ _ in })
    }
    #expect(text(closure).contains("Observe a topic with the closure instead"))
    let failure = await #expect(processExitsWith: .crash, observing: .errors) {
      final class Failure: Error {}
      MulticastDelegate<any Error>().add(Failure())
    }
    #expect(text(failure).contains("Error cannot be a listener protocol"))
    #expect(text(failure).contains("inherits from Error"))
    let subclass = await #expect(processExitsWith: .crash, observing: .errors) {
      class Base {}
      final class Failure: Base, Error, @unchecked Sendable {}
      MulticastCenter().add(Failure(), for: (Base & Error).self)
    }
    #expect(text(subclass).contains("Error cannot be a listener protocol"))
  }

  private struct PlacedValue: PingProtocol {
    func ping(_ number: Int) {}
  }

  @Test(arguments: 0...5) func theErrorNamesTheFileAndLineOfAdd(_ way: Int) async {
    struct Message: WorkerProtocol {}
    let result = await #expect(processExitsWith: .crash, observing: .errors) { [way] in
      let center = MulticastCenter()
      let value = Message()
      switch way {
      case 0: center.add(PlacedValue(), for: PingProtocol.self, fileID: "App/Screen.swift", line: 7)
      case 1:
        center.add(
          PlacedValue(), for: PingProtocol.self, on: .main, fileID: "App/Screen.swift", line: 7)
      case 2: center.add(value, for: WorkerProtocol.self, fileID: "App/Screen.swift", line: 7)
      case 3: center[PingProtocol.self].add(PlacedValue(), fileID: "App/Screen.swift", line: 7)
      case 4:
        center[PingProtocol.self].add(PlacedValue(), on: .main, fileID: "App/Screen.swift", line: 7)
      default: center[WorkerProtocol.self].add(value, fileID: "App/Screen.swift", line: 7)
      }
    }
    #expect(text(result).contains("App/Screen.swift:7: Fatal error: Multicast: a client of type"))
  }

  @Test func removingOrLookingForAValueStopsTheProgram() async {
    await #expect(processExitsWith: .crash) {
      MulticastDelegate<any PingProtocol>().remove(Value())
    }
    await #expect(processExitsWith: .crash) {
      _ = MulticastDelegate<any PingProtocol>().contains(Value())
    }
    // Even if the protocol is not in use.
    await #expect(processExitsWith: .crash) {
      MulticastCenter().remove(Value(), for: PingProtocol.self)
    }
    await #expect(processExitsWith: .crash) {
      _ = MulticastCenter().contains(Value(), for: PingProtocol.self)
    }
  }
}
