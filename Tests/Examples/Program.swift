import Dispatch
import Multicast

nonisolated protocol UserProtocol {
  func userLogin(_ userID: UInt)
}

nonisolated protocol DocumentProtocol {
  func mayClose() -> Bool
}

nonisolated protocol ScanProtocol {
  func found(_ file: String)
}

nonisolated protocol StoreProtocol: Sendable {
  func store(_ userID: UInt) async
}

nonisolated final class Log: UserProtocol {
  func userLogin(_ userID: UInt) {}
}

let center = MulticastCenter()
let log = Log()
let files = ["a", "b"]

// the example
