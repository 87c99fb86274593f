// The first program of the package's README. `Benchmarks/counts` compares its size with that of FirstProgramAlone.

import Multicast

@MainActor protocol UserProtocol {
  func userLogin(_ userID: UInt)
}

@MainActor final class ProfileScreen: UserProtocol {
  var title = ""

  init(center: MulticastCenter) { center.add(self, for: UserProtocol.self) }

  func userLogin(_ userID: UInt) { title = "Welcome, \(userID)" }
}

let center = MulticastCenter()
let screen = ProfileScreen(center: center)
center.notify(UserProtocol.self) { $0.userLogin(1) }
await center.postOnMain(UserProtocol.self) { $0.userLogin(2) }.delivered()
print(screen.title)
