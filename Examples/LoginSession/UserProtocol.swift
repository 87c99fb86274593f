/// The listener protocol of the account store.
protocol UserProtocol {
  func userLogin(_ userID: UInt)
  func logout()
}

// Every method has a default, so a client implements what it needs.
extension UserProtocol {
  func userLogin(_ userID: UInt) {}
  func logout() {}
}
