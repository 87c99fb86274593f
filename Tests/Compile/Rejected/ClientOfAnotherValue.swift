import Multicast

// A constrained protocol is another key for each type that it is constrained to.

protocol Sink<Value> {
  associatedtype Value
  func take(_ value: Value)
}

final class Counter: Sink {
  func take(_ value: Int) {}
}

func sinks(center: MulticastCenter, counter: Counter) {
  // expected-error@+1 {{cannot convert value of type 'Int' to expected argument type 'String'}}
  center.add(counter, for: (any Sink<String>).self)
  // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'Int'}}
  center.notify((any Sink<Int>).self) { $0.take("one") }
  // expected-error@+1 {{cannot convert value of type 'String' to expected element type 'Int'}}
  center.notify((any Sink<Int>).self, forEach: ["one"]) { $0.take($1) }
}
