import Multicast

// Protocols with associated types: constrained ones, and ones left open.

protocol Sink<Value> {
  associatedtype Value
  func take(_ value: Value)
  func name() -> String
}

final class Counter: Sink {
  func take(_ value: Int) {}
  func name() -> String { "counter" }
}

final class Memory<Value>: Sink {
  var values: [Value] = []
  func take(_ value: Value) { values.append(value) }
  func name() -> String { "memory" }
}

func constrained(center: MulticastCenter) {
  center.add(Counter(), for: (any Sink<Int>).self)
  center.add(Memory<Int>(), for: (any Sink<Int>).self)
  center.notify((any Sink<Int>).self) { $0.take(3) }
  center.notify((any Sink<Int>).self, forEach: 1...3) { $0.take($1) }
  for client in center.clients(for: (any Sink<Int>).self) { client.take(1) }
  let numbers = MulticastDelegate<any Sink<Int>>()
  numbers.add(Counter())
  numbers.notify { $0.take(3) }
}

func open(center: MulticastCenter) {
  center.add(Counter(), for: (any Sink).self)
  center.add(Memory<String>(), for: (any Sink).self)
  print(center.map((any Sink).self) { $0.name() })
}

func generic<Value>(_ value: Value, center: MulticastCenter) {
  center.notify((any Sink<Value>).self) { $0.take(value) }
}

func generic<Client: Sink>(_ client: Client, center: MulticastCenter) {
  center.add(client, for: (any Sink<Client.Value>).self)
}
