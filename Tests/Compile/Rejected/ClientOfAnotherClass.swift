import Multicast

// A class as a key takes its own instances only.

protocol UserProtocol {}

class View: UserProtocol {
  init() {}
}

final class Button: View {}

final class Model {}

func add(center: MulticastCenter, view: View, model: Model, user: any UserProtocol) {
  // expected-error@+1 {{cannot convert value of type 'Model' to expected argument type 'View'}}
  center.add(model, for: View.self)
  // expected-error@+1 {{cannot convert value of type 'View' to expected argument type 'Button'}}
  center.add(view, for: Button.self)
  // expected-error@+1 {{cannot convert value of type 'any UserProtocol' to expected argument}}
  center.add(user, for: View.self)
}
