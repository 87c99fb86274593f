import Multicast

// Without AnyObject a client may be a value for the compiler, and a body does not own it.

protocol TitleProtocol {
  var title: String { get set }
  mutating func clear()
}

func assign(center: MulticastCenter) {
  // expected-error@+1 {{cannot assign to property: '$0' is immutable}}
  center.notify(TitleProtocol.self) { $0.title = "ready" }
  // expected-error@+1 {{cannot use mutating member on immutable value: '$0' is immutable}}
  center.notify(TitleProtocol.self) { $0.clear() }
}
