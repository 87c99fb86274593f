import Multicast

// The error type of the body is the error type of notify, which is no other one.

enum StoreError: Error {
  case full
}

struct NetworkError: Error {}

protocol StoreProtocol {
  func save() throws(StoreError)
}

func other(center: MulticastCenter) throws(NetworkError) {
  // expected-error@+1 {{'StoreError' cannot be converted to error type 'NetworkError'}}
  try center.notify(StoreProtocol.self) { (client) throws(StoreError) in try client.save() }
}

// The compiler takes the error of a closure as `any Error` unless the closure names it.
func unnamed(center: MulticastCenter) throws(StoreError) {
  // expected-error@+1 {{'any Error' cannot be converted to error type 'StoreError'}}
  try center.notify(StoreProtocol.self) { try $0.save() }
}

func otherInside(center: MulticastCenter) throws(StoreError) {
  try center.notify(StoreProtocol.self) { _ throws(StoreError) in
    // expected-error@+1 {{'NetworkError' cannot be converted to error type 'StoreError'}}
    throw NetworkError()
  }
}
