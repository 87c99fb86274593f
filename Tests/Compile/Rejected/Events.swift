import Multicast

// The events are what the body takes.

protocol ScanProtocol {
  func found(_ size: Int)
}

func batches(center: MulticastCenter, delegates: MulticastDelegate<any ScanProtocol>) {
  // expected-error@+1 {{cannot convert value of type 'String' to expected element type 'Int'}}
  center.notify(ScanProtocol.self, forEach: ["one"]) { client, size in client.found(size) }
  // expected-error@+1 {{cannot convert value of type 'String' to expected element type 'Int'}}
  delegates.notify(forEach: ["one"]) { $0.found($1) }
  // expected-error@+1 {{requires that 'Int' conform to 'Collection'}}
  center.notify(ScanProtocol.self, forEach: 1) { client, size in client.found(size) }
  // expected-error@+1 {{expects 2 arguments, but 1 was used in closure body}}
  center.notify(ScanProtocol.self, forEach: [1]) { client in client.found(1) }
}
