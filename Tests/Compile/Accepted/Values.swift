import Multicast

// Any protocol will do, so the compiler lets values pass. It is the running program that stops.

protocol UserProtocol {
  func login()
}

struct Point: UserProtocol {
  func login() {}
}

enum Nobody: UserProtocol {
  case nobody
  func login() {}
}

func values(center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>) {
  center.add(Point(), for: UserProtocol.self)
  center.remove(Point(), for: UserProtocol.self)
  delegates.add(Nobody.nobody)
}
