import Multicast
import MulticastTesting
import Testing

nonisolated protocol UserProtocol {
  func userLogin(_ id: UInt)
}

// the example
