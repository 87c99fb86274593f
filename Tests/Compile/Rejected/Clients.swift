import Multicast

// The main advantage of protocols as keys: a client that does not conform is an error.

protocol UserProtocol {
  func login()
}

protocol AdminProtocol {}

class View {
  init() {}
}

final class Screen: View, UserProtocol {
  func login() {}
}

typealias Both = UserProtocol & AdminProtocol

func center(_ center: MulticastCenter, screen: Screen, user: any UserProtocol) {
  center.add(screen, for: AdminProtocol.self)  // expected-error {{'Screen' does not conform to}}
  center.remove(screen, for: AdminProtocol.self)  // expected-error {{'Screen' does not conform}}
  center.add(screen, for: Both.self)  // expected-error {{'Screen' does not conform to}}
  center.add(user, for: AdminProtocol.self)  // expected-error {{does not conform to expected}}
  // expected-error@+1 {{'AnyObject' does not conform to expected type 'UserProtocol'}}
  center.add(screen as AnyObject, for: UserProtocol.self)
}

func delegates(_ delegates: MulticastDelegate<any AdminProtocol>, screen: Screen) {
  delegates.add(screen)  // expected-error {{'Screen' does not conform to expected type}}
  delegates.remove(screen)  // expected-error {{'Screen' does not conform to expected type}}
}

// An optional is not a client. `remove(_:)` takes an object, and the compiler does not know that a
// client of `UserProtocol` is one.
func others(_ center: MulticastCenter, screen: Screen?, user: any UserProtocol) {
  center.add(screen, for: UserProtocol.self)  // expected-error {{must be unwrapped}}
  center.remove(user)  // expected-error {{expected to be an instance of a class}}
}

// A class as a key accepts only its own instances.
func classes(_ center: MulticastCenter, view: View, user: any UserProtocol) {
  // expected-error@+1 {{cannot convert value of type 'View' to expected argument type 'Screen'}}
  center.add(view, for: Screen.self)
  // expected-error@+1 {{cannot convert value of type 'any UserProtocol' to expected argument}}
  center.add(user, for: View.self)
}

// A constrained protocol is a different key for each type in its constraint.
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
}
