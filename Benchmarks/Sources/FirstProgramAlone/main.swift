// FirstProgram without the package: it calls the screen itself.

@MainActor protocol UserProtocol {
  func userLogin(_ userID: UInt)
}

@MainActor final class ProfileScreen: UserProtocol {
  var title = ""

  func userLogin(_ userID: UInt) { title = "Welcome, \(userID)" }
}

let screen: any UserProtocol = ProfileScreen()
screen.userLogin(1)
await Task { @MainActor in screen.userLogin(2) }.value
print((screen as? ProfileScreen)?.title ?? "")
