import Multicast

// A file is passed on as what it is by default; a text made while the program runs is none.

protocol UserProtocol {
  func login()
}

func notify(center: MulticastCenter, file: String) {
  // expected-error@+1 {{value of type 'String' to expected argument type 'StaticString'}}
  center.notify(UserProtocol.self, fileID: file) { $0.login() }
}
