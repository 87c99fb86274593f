import Dispatch
import Multicast

nonisolated protocol UserProtocol {
  func userLogin(_ userID: UInt)
}

nonisolated final class Writer: UserProtocol {
  func userLogin(_ userID: UInt) {}
}

nonisolated struct File: Sendable {
  func close() {}
}

nonisolated struct Records {
  let center = MulticastCenter()
  let writer = Writer()
  let file = File()

  // the example
}
