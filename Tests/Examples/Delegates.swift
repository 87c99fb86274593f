import Multicast

// Every method that an example calls, since a delegate is of one protocol.
nonisolated protocol Listener: Sendable {
  func userLogin(_ userID: UInt)
  func documentMayClose() -> Bool
  func found(_ file: String)
  func store(_ userID: UInt) async
}

let delegates = MulticastDelegate<any Listener>()
let files = ["a", "b"]

// the example
