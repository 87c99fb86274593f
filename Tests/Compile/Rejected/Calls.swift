import Multicast

// The compiler checks the call, which is what names and dictionaries cannot offer.

protocol UserProtocol {
  func login(_ userID: Int)
}

func calls(center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>) {
  // expected-error@+1 {{value of type 'any UserProtocol' has no member 'logout'}}
  center.notify(UserProtocol.self) { $0.logout() }
  // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'Int'}}
  center.notify(UserProtocol.self) { $0.login("one") }
  // expected-error@+1 {{missing argument for parameter #1 in call}}
  delegates.notify { $0.login() }
  // expected-error@+1 {{cannot convert value of type '()' to closure result type 'Bool'}}
  let answers: [Bool] = center.map(UserProtocol.self) { $0.login(1) }
  print(answers)
}
