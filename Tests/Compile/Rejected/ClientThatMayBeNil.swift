import Multicast

// Nobody is not a client.

protocol UserProtocol {}

final class Screen: UserProtocol {}

func add(_ screen: Screen?, center: MulticastCenter) {
  // expected-error@+1 {{value of optional type 'Screen?' must be unwrapped}}
  center.add(screen, for: UserProtocol.self)
}
