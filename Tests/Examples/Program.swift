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

let center = MulticastCenter()
let files = ["a", "b"]

// the example
