import Multicast

// The error type of the body is the error type of notify.

enum StoreError: Error {
  case full
  case gone
}

protocol StoreProtocol {
  func save() throws(StoreError)
  func load() throws(StoreError) -> Int
}

func typed(
  center: MulticastCenter, delegates: MulticastDelegate<any StoreProtocol>
) throws(StoreError) {
  try center.notify(StoreProtocol.self) { (client) throws(StoreError) in try client.save() }
  try delegates.notify { client throws(StoreError) in try client.save() }
  try delegates.notify { _ throws(StoreError) in throw .gone }
  try center.notify(StoreProtocol.self, forEach: [1]) { (client, _) throws(StoreError) in
    try client.save()
  }
  try delegates.notify(forEach: [1]) { (client, _) throws(StoreError) in try client.save() }
  let answers = try center.map(StoreProtocol.self) { (client) throws(StoreError) in
    try client.load()
  }
  let others = try delegates.map { (client) throws(StoreError) -> Int in try client.load() }
  print(answers, others)
}

// The compiler knows that these two are all.
func caught(center: MulticastCenter) {
  do {
    try center.notify(StoreProtocol.self) { (client) throws(StoreError) in try client.save() }
  } catch {
    switch error {
    case .full: print("full")
    case .gone: print("gone")
    }
  }
}

func generic<Failure: Error>(
  center: MulticastCenter, _ body: (any StoreProtocol) throws(Failure) -> Void
) throws(Failure) {
  try center.notify(StoreProtocol.self, body)
  try center.notify(StoreProtocol.self) { (client) throws(Failure) in try body(client) }
}

func genericOverNever(center: MulticastCenter) {
  generic(center: center) { _ in }
}
