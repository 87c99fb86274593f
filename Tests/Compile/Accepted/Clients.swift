import Distributed
import Multicast

// Keys and clients of every kind. The results may be ignored, and the types may be generic
// parameters.

protocol UserProtocol {
  func login()
}

protocol Titled: AnyObject {
  var title: String { get set }
}

protocol Sink<Value> {
  associatedtype Value
  func take(_ value: Value)
}

class View {
  init() {}
  func draw() {}
}

final class Door: View, UserProtocol, Titled, Sink {
  var title = ""
  func login() {}
  func take(_ value: Int) {}
}

func membership(center: MulticastCenter, delegates: MulticastDelegate<any UserProtocol>) {
  let door = Door()
  center.add(door, for: UserProtocol.self)
  center[UserProtocol.self].add(door)
  precondition(center.contains(door, for: UserProtocol.self) && delegates.add(door))
  center.remove(door, for: UserProtocol.self)
  center.remove(door)
  delegates.remove(door)
  let key = UserProtocol.self
  for client in center[key].clients {
    center.add(client, for: key)
    center.remove(client as AnyObject)
  }
}

func keys(center: MulticastCenter, titles: MulticastDelegate<UserProtocol & Titled>) {
  let door = Door()
  center.add(door, for: (any View & UserProtocol).self)
  center.notify((View & UserProtocol).self) { $0.draw() }
  titles.add(door)
  titles.notify(forEach: ["a", "b"]) { $0.title += $1 }
  for client in center[Titled.self].clients { center.remove(client) }
  center.add(door, for: type(of: door))
  center.add(door, for: AnyObject.self)
  center.notify(Door.self) { $0.draw() }
  center.add(door, for: (any Sink<Int>).self)
  center.notify((any Sink<Int>).self) { $0.take(3) }
  center.add(door, for: (any Sink).self)
}

func anything<Listener>(_ client: Listener, for key: Listener.Type, center: MulticastCenter) {
  center.add(client, for: key)
  center.notify(key) { print($0) }
  center.remove(client, for: key)
}

func opaque(_ client: some UserProtocol, center: MulticastCenter) {
  center.add(client, for: UserProtocol.self)
  center.remove(client, for: UserProtocol.self)
}

// A center calls the nonisolated methods of an actor, or awaits the others.
nonisolated protocol LogProtocol {
  func log(_ line: String)
}

nonisolated protocol Writer: Actor {
  func write(_ line: String)
}

actor File: LogProtocol, Writer {
  nonisolated func log(_ line: String) { Task { await write(line) } }
  func write(_ line: String) {}

  func join(_ center: MulticastCenter) {
    center.add(self, for: LogProtocol.self)
    center.add(self, for: Writer.self)
    center.remove(self)
  }
}

nonisolated func actors(_ file: File, center: MulticastCenter) async {
  center.add(file, for: (any Actor).self)
  center.notify(LogProtocol.self) { $0.log("a") }
  await center.notify(File.self) { file in
    await file.write("a")
    file.log("b")
  }
}

// Each call of a distributed actor may fail.
nonisolated protocol WorkerProtocol: DistributedActor
where ActorSystem == LocalTestingDistributedActorSystem {
  distributed func work()
}

nonisolated func work(center: MulticastCenter) async throws {
  try await center.notify((any WorkerProtocol).self) { try await $0.work() }
}
