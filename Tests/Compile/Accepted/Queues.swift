import Dispatch
import Multicast

// Threads that are not tasks.

nonisolated protocol UserProtocol {
  func login()
  func count() -> Int
}

nonisolated func queues(
  center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>
) {
  let queue = DispatchQueue(label: "work")
  queue.async { center.notify(UserProtocol.self) { $0.login() } }
  queue.async { delegates.notify(forEach: [1, 2]) { client, _ in client.login() } }
  DispatchQueue.main.async { delegates.notify { $0.login() } }
  DispatchQueue.concurrentPerform(iterations: 2) { _ in delegates.notify { $0.login() } }
  print(queue.sync { center.map(UserProtocol.self) { $0.count() } })
}
