import Foundation

struct LoginEvent: Sendable {
  let id: UInt
}

// the example
