/// What can happen to a user's session: the listener protocol of this example.
protocol UserProtocol {
  func userLogin(_ userID: UInt)
  func logout()
}

// With a default for each method, a client implements only those that it needs.
extension UserProtocol {
  func userLogin(_ userID: UInt) {}
  func logout() {}
}
