import Foundation
import Multicast
import MulticastFoundation

struct PowerState: Sendable {}

extension Topic where Message == PowerState {
  static var powerState: Self { Topic("powerState") }
}

@MainActor protocol ScreenProtocol {
  func show(_ state: PowerState)
}

@MainActor final class App {
  let center = MulticastCenter()

  func start() {
    // the example
  }
}
