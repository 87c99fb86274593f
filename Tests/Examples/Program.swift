import Dispatch
import Multicast

protocol UserProtocol {
  func userLogin(_ userID: UInt)
}

protocol DocumentProtocol {
  func mayClose() -> Bool
}

protocol ScanProtocol {
  func found(_ file: String)
}

protocol StoreProtocol: Sendable {
  func store(_ userID: UInt) async
}

final class Log: UserProtocol {
  func userLogin(_ userID: UInt) {}
}

let center = MulticastCenter()
let log = Log()
let files = ["a", "b"]

// the example
