import Multicast

nonisolated struct Veto: Error {
  let reason: String
}
@MainActor protocol CloseListener {
  func mayClose() throws(Veto)
}

@MainActor
func close(in center: MulticastCenter) throws(Veto) {
  try center.notify(CloseListener.self) {
    client throws(Veto) in try client.mayClose()
  }
  // No client objects: close.
}

@MainActor
func closeOrExplain(in center: MulticastCenter) -> String? {
  do {
    try close(in: center)
    return nil
  } catch {
    return error.reason  // a Veto, without a cast
  }
}
