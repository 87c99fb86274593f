import Multicast

@MainActor protocol ScreenProtocol {
  func downloadDidProgress(to percent: Int)
}

let center = MulticastCenter()
let screens = MulticastDelegate<any ScreenProtocol>()

// the example
