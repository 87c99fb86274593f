import Multicast

// What is removed from everything is an object, which not every client of a protocol has to be for
// the compiler.

protocol UserProtocol {}

func remove(_ user: any UserProtocol, from center: MulticastCenter) {
  // expected-error@+1 {{'any UserProtocol' expected to be an instance of a class}}
  center.remove(user)
}
