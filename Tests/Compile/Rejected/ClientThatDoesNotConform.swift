import Multicast

// The point of protocols as keys: a client that does not conform is an error.

protocol UserProtocol {
  func login()
}

protocol AdministratorProtocol {
  func reset()
}

final class Screen: UserProtocol {
  func login() {}
}

func center(_ center: MulticastCenter, screen: Screen, user: any UserProtocol) {
  // expected-error@+1 {{'Screen' does not conform to expected type 'AdministratorProtocol'}}
  center.add(screen, for: AdministratorProtocol.self)
  // expected-error@+1 {{'Screen' does not conform to expected type 'AdministratorProtocol'}}
  center.remove(screen, for: AdministratorProtocol.self)
  // expected-error@+1 {{'Screen' does not conform to expected type 'AdministratorProtocol'}}
  _ = center.contains(screen, for: AdministratorProtocol.self)
  // expected-error@+1 {{'Screen' does not conform to expected type 'AdministratorProtocol'}}
  center[AdministratorProtocol.self].add(screen)
  // expected-error@+1 {{'Screen' does not conform to expected type 'AdministratorProtocol'}}
  center.add(screen, for: (UserProtocol & AdministratorProtocol).self)
  // expected-error@+1 {{'any UserProtocol' does not conform to expected type}}
  center.add(user, for: AdministratorProtocol.self)
  // expected-error@+1 {{'AnyObject' does not conform to expected type 'UserProtocol'}}
  center.add(screen as AnyObject, for: UserProtocol.self)
}

func delegates(_ delegates: MulticastDelegate<any AdministratorProtocol>, screen: Screen) {
  // expected-error@+1 {{'Screen' does not conform to expected type 'AdministratorProtocol'}}
  delegates.add(screen)
  // expected-error@+1 {{'Screen' does not conform to expected type 'AdministratorProtocol'}}
  delegates.remove(screen)
}
